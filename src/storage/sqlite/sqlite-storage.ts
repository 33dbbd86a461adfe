import { dirname, join } from 'node:path';
import { type Language, useLanguage } from '../../words/language.ts';
import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createStorage } from '../create-storage.ts';
import { storedLanguage } from '../stores/words/word-analysis.ts';
import type { DatabaseConfig } from './database.ts';
import { createOriginals } from './originals.ts';
import { settledLanguage } from './settled-language.ts';
import { createReaderPool, storageClosed } from './threads/reader-pool.ts';
import { createSqliteThread, type OperationCall, type SqliteThread } from './threads/sqlite-thread.ts';
import { createSqliteTransactions } from './transactions.ts';

export interface SqliteStorageConfig {
  /** Of the database file. It and its folder are created if missing. */
  readonly path: string;
  /** Where the bytes of documents are; default: `documents` next to the database. */
  readonly documentsDir?: string;
  readonly busyTimeoutMs?: number;
  readonly queryTimeoutMs?: number;
  readonly readersMax?: number;
  /** Of the words. Default: the database's language; with another one, all texts are tokenised again. */
  readonly language?: Language | undefined;
}

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
  const settled = settledLanguage(config.path, config.language);
  let language = settled ?? config.language;
  let writer: SqliteThread | undefined;
  let closed = false;
  const write = async (call: OperationCall): Promise<unknown> => {
    if (closed) throw storageClosed();
    if (!writer?.alive) writer = createSqliteThread(connection('writer'));
    return writer.call(call);
  };
  const readers = createReaderPool(
    { threadsMax: config.readersMax ?? 2, timeoutMs: config.queryTimeoutMs ?? 5000 },
    () => createSqliteThread(connection('reader')),
  );
  const transactions = createSqliteTransactions({ call: write }, readers, now);
  // Nobody waits for a thread before there is something to write, unless the database must be made or changed first.
  language = settled ?? (await transactions.alone(storedLanguage, undefined));
  // Queries are parsed here.
  await useLanguage(language);
  return createStorage({
    backend: 'sqlite',
    transactions,
    createOriginals: (metered) => createOriginals(documentsDir, metered),
    async close() {
      closed = true;
      await readers.close();
      await writer?.close();
    },
  });
}
