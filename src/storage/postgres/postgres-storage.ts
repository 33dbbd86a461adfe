import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { documentStoreOf, ingestionStoreOf } from '../stores/documents/document-stores-of.ts';
import { checkContent } from './check-content.ts';
import { createConnections, numberOf, type PostgresConfig, textOf } from './connections.ts';
import { createDocumentRunner } from './documents.ts';
import { createEntryStore } from './entries.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { findExtension } from './nearest-index.ts';
import { createNoteStore } from './notes.ts';
import { createOriginals } from './originals.ts';
import { createPassageStore, createPassageWriter } from './passages.ts';
import { settleAnalysis } from './rewrite-words.ts';
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
  const documents = createDocumentRunner(connections, createPassageWriter('kb'), now);
  const entries = createEntryStore(connections, now);
  return {
    backend: 'postgres',
    notes: createNoteStore(connections, now),
    entries,
    passages: {
      context: createPassageStore(connections, 'context'),
      kb: createPassageStore(connections, 'kb'),
      notes: createPassageStore(connections, 'notes'),
    },
    documents: documentStoreOf(documents),
    ingestion: ingestionStoreOf(documents),
    originals: createOriginals(connections, async (hashes) =>
      hashes.length === 0 ? 0 : documents.write('releaseOriginals', { hashes }),
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
