import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createDocumentStore } from '../stores/documents/document-store.ts';
import { createIngestionStore } from '../stores/documents/ingestion-store.ts';
import { releaseOriginals } from '../stores/documents/release-originals.ts';
import { createEntryStore } from '../stores/entries/entry-store.ts';
import { checkContent } from './check-content.ts';
import { createConnections, numberOf, type PostgresConfig, textOf } from './connections.ts';
import { postgresDialect } from './dialect.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { findExtension } from './nearest-index.ts';
import { createNoteStore } from './notes.ts';
import { createOriginals } from './originals.ts';
import { createPassageStore } from './passages.ts';
import { settleAnalysis } from './rewrite-words.ts';
import { createPostgresTransactions } from './transactions.ts';
import { createVectorStores } from './vector-stores.ts';

/** Connects to a PostgreSQL database that several machines may serve, and brings it to our schema. */
export async function createPostgresStorage(config: PostgresConfig, deps: StorageDeps = {}): Promise<Storage> {
  const connections = createConnections(config);
  let extension: string | undefined;
  try {
    await migrate(connections);
    await settleAnalysis(connections, config.language);
    extension = await findExtension(connections);
  } catch (error) {
    await connections.close();
    throw error;
  }
  const now = deps.now ?? (() => new Date());
  const transactions = createPostgresTransactions(connections, postgresDialect, now);
  const entries = createEntryStore(transactions);
  return {
    backend: 'postgres',
    notes: createNoteStore(connections, now),
    entries,
    passages: {
      context: createPassageStore(connections, 'context'),
      kb: createPassageStore(connections, 'kb'),
      notes: createPassageStore(connections, 'notes'),
    },
    documents: createDocumentStore(transactions),
    ingestion: createIngestionStore(transactions),
    originals: createOriginals(connections, async (hashes) =>
      hashes.length === 0 ? 0 : transactions.write(releaseOriginals, { hashes }),
    ),
    vectors: createVectorStores(connections, extension, entries),
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
