import { dirname, join } from 'node:path';
import { createSlots } from '../../base/slots.ts';
import { type Language, useLanguage } from '../../words/language.ts';
import type { Operation } from '../dialect.ts';
import { unsummarisedEntries } from '../entries/entry-parts.ts';
import { nameOf } from '../operations.ts';
import { createStorage, type Storage, type StorageDeps } from '../storage.ts';
import { storageClosed, type Transactions } from '../transactions.ts';
import { listModels } from '../vectors/models.ts';
import { vectorState } from '../vectors/read-vectors.ts';
import { storedLanguage } from '../words/word-analysis.ts';
import type { DatabaseConfig } from './database.ts';
import { ensureDatabaseFile } from './database-file.ts';
import { createOriginals } from './original-files.ts';
import { readyLanguage } from './ready-language.ts';
import {
  createReaderPool,
  createSqliteThread,
  type OperationCall,
  type ReaderPool,
  type SqliteThread,
} from './threads/sqlite-thread.ts';

export interface SqliteStorageConfig {
  /** Path of the database file. It and its folder are created if missing. */
  readonly path: string;
  /** The folder that contains the bytes of documents. Default: `documents` next to the database. */
  readonly documentsDir?: string;
  readonly busyTimeoutMs?: number;
  readonly queryTimeoutMs?: number;
  readonly readersMax?: number;
  /** Language of the words. Default: the database's language. If it differs from that, all texts are tokenised again. */
  readonly language?: Language | undefined;
}

/** Opens or creates a database file. One thread writes, others read. Several processes may use the same file. */
export async function createSqliteStorage(config: SqliteStorageConfig, deps: StorageDeps = {}): Promise<Storage> {
  const now = deps.now ?? (() => new Date());
  const documentsDir = config.documentsDir ?? join(dirname(config.path), 'documents');
  const identity = ensureDatabaseFile({ path: config.path, documentsDir });
  const connection = (role: DatabaseConfig['role']): DatabaseConfig => ({
    path: config.path,
    identity,
    documentsDir,
    role,
    language,
    busyTimeoutMs: config.busyTimeoutMs ?? 5000,
  });
  const ready = readyLanguage(config.path, config.language);
  let language = ready ?? config.language;
  let writer: SqliteThread | undefined;
  // Two, so that the thread can start a write while the answer of the previous one is delivered.
  const writes = createSlots({ runningMax: 2, waitingMax: Number.POSITIVE_INFINITY });
  let closed = false;
  let [opened, broken] = [0, 0];
  const thread = (role: DatabaseConfig['role']): SqliteThread => {
    opened += 1;
    return createSqliteThread(connection(role));
  };
  const write = async (call: OperationCall): Promise<unknown> => {
    if (closed) throw storageClosed();
    if (writer?.alive === false) broken += 1;
    if (!writer?.alive) writer = thread('writer');
    const current = writer;
    const releaseSlot = await writes.acquire();
    try {
      return await current.call(call);
    } finally {
      releaseSlot();
    }
  };
  const readers = createReaderPool(
    { threadsMax: config.readersMax ?? 2, timeoutMs: config.queryTimeoutMs ?? 5000 },
    () => thread('reader'),
  );
  /** Uses the writer's thread for background reads, if it runs. A reader thread takes 15 MB. */
  const read: ReaderPool['call'] = (call, options) => {
    const isBackground = options?.signal === undefined && backgroundReads.has(call.operation);
    return isBackground && writer?.alive ? write(call) : readers.call(call, options);
  };
  const transactions = createSqliteTransactions({ write, read }, now);
  // The writer's thread starts with the first write, or here if the database must first be created or changed.
  language = ready ?? (await transactions.withoutTimeout(storedLanguage, undefined));
  // Needed here because queries are parsed on this thread.
  await useLanguage(language);
  return createStorage({
    backend: 'sqlite',
    transactions,
    hasVectorIndex: false,
    createOriginals: (metered) => createOriginals(documentsDir, metered),
    connections: () => ({ backend: 'sqlite', opened, broken }),
    async close() {
      closed = true;
      await readers.close();
      await writer?.close();
    },
  });
}

/** Quick reads of background work. They may wait for a write, so those without a signal run on the writer's thread. */
const backgroundReads: ReadonlySet<string> = new Set([
  nameOf(listModels),
  nameOf(unsummarisedEntries),
  nameOf(vectorState),
]);

/** Runs operations on the database threads. Calls name the operation, because functions cannot be sent to a thread. */
function createSqliteTransactions(
  threads: { write(call: OperationCall): Promise<unknown>; read: ReaderPool['call'] },
  now: () => Date,
): Transactions {
  const callOf = <Request, Answer>(
    kind: OperationCall['kind'],
    operation: Operation<Request, Answer>,
    request: Request,
  ): OperationCall => ({ kind, operation: nameOf(operation), request, now: now().toISOString() });
  return {
    // The casts are needed because answers arrive as messages, which have no types.
    write: async (operation, request) => (await threads.write(callOf('write', operation, request))) as never,
    read: async (operation, request, options) =>
      (await threads.read(callOf('read', operation, request), options)) as never,
    withoutTimeout: async (operation, request) =>
      (await threads.write(callOf('withoutTimeout', operation, request))) as never,
  };
}
