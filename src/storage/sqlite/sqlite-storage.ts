import { dirname, join } from 'node:path';
import { type Language, useLanguage } from '../../words/language.ts';
import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createDocumentStore } from '../stores/documents/document-store.ts';
import { createIngestionStore } from '../stores/documents/ingestion-store.ts';
import { releaseOriginals, usedOriginals } from '../stores/documents/release-originals.ts';
import { createEntryStore } from '../stores/entries/entry-store.ts';
import { createNoteStore } from '../stores/notes/note-store.ts';
import { createPassageStore } from '../stores/passages/passage-store.ts';
import { createVectorStores } from '../stores/vectors/vector-store.ts';
import type { DatabaseConfig } from './database.ts';
import { createOriginalFiles } from './original-files.ts';
import { createReaderPool, storageClosed } from './reader-pool.ts';
import { settledLanguage } from './settled-language.ts';
import { createSqliteThread, type SqliteThread } from './sqlite-thread.ts';
import { createSqliteTransactions } from './transactions.ts';

export interface SqliteStorageConfig {
  /** Of the database file. It and its folder are made when they are missing. */
  readonly path: string;
  /** Where the bytes of documents are; `documents` beside the database, unless told. */
  readonly documentsDir?: string;
  readonly busyTimeoutMs?: number;
  readonly queryTimeoutMs?: number;
  readonly readersMax?: number;
  /** Of the words. Unless told, the one that the database has; another one has all texts cut again. */
  readonly language?: Language | undefined;
}

/** Files that are looked at together, so that nobody else need wait for all of them. */
const sweptAtOnce = 500;

/**
 * Opens the database in a file, or makes it. One thread writes, others read; several processes may do so with the same
 * file at the same time.
 */
export async function createSqliteStorage(config: SqliteStorageConfig, deps: StorageDeps = {}): Promise<Storage> {
  const now = deps.now ?? (() => new Date());
  const documentsDir = config.documentsDir ?? join(dirname(config.path), 'documents');
  const connection = (role: DatabaseConfig['role']): DatabaseConfig => ({
    path: config.path,
    documentsDir,
    role,
    language,
    busyTimeoutMs: config.busyTimeoutMs ?? 5000,
  });
  let language = settledLanguage(config.path, config.language);
  // Nobody waits for a thread before there is something to write, unless the database must be made or changed first.
  let writer: SqliteThread | undefined;
  if (language === undefined) {
    language = config.language;
    writer = createSqliteThread(connection('writer'));
    language = await writer.call('upkeep', 'language', []);
  }
  // Queries are parsed here.
  await useLanguage(language);
  const readers = createReaderPool(
    { threadsMax: config.readersMax ?? 2, timeoutMs: config.queryTimeoutMs ?? 5000 },
    () => createSqliteThread(connection('reader')),
  );
  let closed = false;

  const write: SqliteThread['call'] = async (store, method, args) => {
    if (closed) throw storageClosed();
    if (!writer?.alive) writer = createSqliteThread(connection('writer'));
    return writer.call(store, method, args);
  };

  const transactions = createSqliteTransactions(write, readers, now);
  const files = createOriginalFiles(documentsDir);
  const release = async (hashes: readonly string[]): Promise<number> =>
    hashes.length === 0 ? 0 : transactions.write(releaseOriginals, { hashes });

  return {
    backend: 'sqlite',
    notes: createNoteStore(transactions),
    entries: createEntryStore(transactions),
    passages: createPassageStore(transactions),
    vectors: createVectorStores(transactions),
    documents: createDocumentStore(transactions),
    ingestion: createIngestionStore(transactions),
    originals: {
      stage: files.stage,
      discard: files.discard,
      open: files.open,
      release,
      async sweep() {
        const hashes = files.list();
        let released = 0;
        for (let first = 0; first < hashes.length; first += sweptAtOnce) {
          const some = hashes.slice(first, first + sweptAtOnce);
          const used = new Set(await transactions.read(usedOriginals, { hashes: some }));
          // Nearly always none are left over: so the lock of the writer is not even taken.
          released += await release(some.filter((hash) => !used.has(hash)));
        }
        return released;
      },
    },
    describe: () => readers.call('upkeep', 'describe', []),
    check: () => write('upkeep', 'check', []),
    async close() {
      closed = true;
      await readers.close();
      await writer?.close();
    },
  };
}
