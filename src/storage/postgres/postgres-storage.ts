import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { numberOf, textOf } from '../statements.ts';
import { createDocumentStore } from '../stores/documents/document-store.ts';
import { createIngestionStore } from '../stores/documents/ingestion-store.ts';
import { releaseOriginals } from '../stores/documents/release-originals.ts';
import { createEntryStore } from '../stores/entries/entry-store.ts';
import { createNoteStore } from '../stores/notes/note-store.ts';
import { createPassageStore } from '../stores/passages/passage-store.ts';
import { createVectorStores } from '../stores/vectors/vector-store.ts';
import { settleAnalysis } from '../stores/words/settle-analysis.ts';
import type { Transactions } from '../transactions.ts';
import { checkContent } from './check-content.ts';
import { type Connections, createConnections, type PostgresConfig } from './connections.ts';
import { createPostgresDialect } from './dialect.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { createNearest, type Nearest } from './nearest.ts';
import { createOriginals } from './originals.ts';
import { createPostgresTransactions } from './transactions.ts';

/** Connects to a PostgreSQL database that several machines may serve, and brings it to our schema. */
export async function createPostgresStorage(config: PostgresConfig, deps: StorageDeps = {}): Promise<Storage> {
  const connections = createConnections(config);
  const now = deps.now ?? (() => new Date());
  try {
    await migrate(connections);
    const nearest = await createNearest(connections);
    const transactions = createPostgresTransactions(connections, createPostgresDialect(nearest?.indexes), now);
    await settleAnalysis(transactions, config.language);
    return storageOn(connections, transactions, nearest);
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function storageOn(connections: Connections, transactions: Transactions, nearest: Nearest | undefined): Storage {
  return {
    backend: 'postgres',
    notes: createNoteStore(transactions),
    entries: createEntryStore(transactions),
    passages: createPassageStore(transactions),
    documents: createDocumentStore(transactions),
    ingestion: createIngestionStore(transactions),
    originals: createOriginals(connections, async (hashes) =>
      hashes.length === 0 ? 0 : transactions.write(releaseOriginals, { hashes }),
    ),
    vectors: createVectorStores(transactions, nearest?.operations),
    describe: () =>
      connections.read(async (statements) => {
        const [row = {}] = await statements.query(
          `SELECT current_setting('server_version') AS version,
             (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
              WHERE c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r') AS bytes`,
        );
        const schema = await schemaVersion(statements);
        return { backend: 'postgres', version: textOf(row, 'version'), schema, bytes: numberOf(row, 'bytes') };
      }),
    check: () => connections.read(checkContent),
    close: () => connections.close(),
  };
}
