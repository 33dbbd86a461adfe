import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Language, useLanguage } from '../../words/language.ts';
import type { OriginalStore } from '../contracts/ingestion.ts';
import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createStorage } from '../create-storage.ts';
import type { Operation } from '../dialect.ts';
import { nameOf } from '../operations.ts';
import { createRelease, usedOriginals } from '../stores/documents/release-originals.ts';
import { unsummarisedEntries } from '../stores/entries/entry-summaries.ts';
import { otherClaims } from '../stores/vectors/claim-texts.ts';
import { listModels } from '../stores/vectors/models.ts';
import { vectorState } from '../stores/vectors/read-vectors.ts';
import { storedLanguage } from '../stores/words/word-analysis.ts';
import type { Transactions } from '../transactions.ts';
import type { DatabaseConfig } from './database.ts';
import { ensureDatabaseFile } from './database-file.ts';
import { createOriginalFiles, originalsIn, takeOver } from './original-files.ts';
import { settledLanguage } from './settled-language.ts';
import { createReaderPool, type ReaderPool, storageClosed } from './threads/reader-pool.ts';
import { createSqliteThread, type OperationCall, type SqliteThread } from './threads/sqlite-thread.ts';

export interface SqliteStorageConfig {
  /** Of the database file. It and its folder are created if missing. */
  readonly path: string;
  /** Where the bytes of documents are; default: `documents` next to the database. */
  readonly documentsDir?: string;
  /** Where earlier versions put them, among those of other databases. */
  readonly formerDocumentsDir?: string;
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
  const identity = ensureDatabaseFile({ path: config.path, documentsDir });
  const connection = (role: DatabaseConfig['role']): DatabaseConfig => ({
    path: config.path,
    identity,
    documentsDir,
    role,
    language,
    busyTimeoutMs: config.busyTimeoutMs ?? 5000,
  });
  const settled = settledLanguage(config.path, config.language);
  let language = settled ?? config.language;
  let writer: SqliteThread | undefined;
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
    return writer.call(call);
  };
  const readers = createReaderPool(
    { threadsMax: config.readersMax ?? 2, timeoutMs: config.queryTimeoutMs ?? 5000 },
    () => thread('reader'),
  );
  /** A thread takes 15 MB, and gives back half of that when it ends: for what nobody waits for, none is started. */
  const read: ReaderPool['call'] = (call, options) => {
    const isUnhurried = options?.signal === undefined && unhurried.has(call.operation);
    return isUnhurried && writer?.alive ? write(call) : readers.call(call, options);
  };
  const transactions = createSqliteTransactions({ write, read }, now);
  // Nobody waits for a thread before there is something to write, unless the database must be made or changed first.
  language = settled ?? (await transactions.alone(storedLanguage, undefined));
  // Queries are parsed here.
  await useLanguage(language);
  if (config.formerDocumentsDir !== undefined) {
    await takeOverFormer(config.formerDocumentsDir, documentsDir, transactions);
  }
  return createStorage({
    backend: 'sqlite',
    transactions,
    createOriginals: (metered) => createOriginals(documentsDir, metered),
    connections: () => ({ backend: 'sqlite', opened, broken }),
    async close() {
      closed = true;
      await readers.close();
      await writer?.close();
    },
  });
}

/** Quick, and asked in the background unless they can be given up. There nobody minds if they come behind a write. */
const unhurried: ReadonlySet<string> = new Set([
  nameOf(listModels),
  nameOf(otherClaims),
  nameOf(unsummarisedEntries),
  nameOf(vectorState),
]);

/** Has operations performed on the threads that have connections. They are named there, because functions cannot be sent. */
function createSqliteTransactions(
  on: {
    write(call: OperationCall): Promise<unknown>;
    read: ReaderPool['call'];
  },
  now: () => Date,
): Transactions {
  const callOf = <Request, Answer>(
    kind: OperationCall['kind'],
    operation: Operation<Request, Answer>,
    request: Request,
  ): OperationCall => ({ kind, operation: nameOf(operation), request, now: now().toISOString() });
  return {
    // What answers is the operation of this name; a message cannot carry the proof of it.
    write: async (operation, request) => (await on.write(callOf('write', operation, request))) as never,
    read: async (operation, request, options) => (await on.read(callOf('read', operation, request), options)) as never,
    alone: async (operation, request) => (await on.write(callOf('alone', operation, request))) as never,
  };
}

/** Once: the folder that it makes says that it was done. Where nothing is to be taken over, no folder is made. */
async function takeOverFormer(from: string, to: string, { read }: Transactions): Promise<void> {
  if (existsSync(to)) return;
  const hashes = originalsIn(from);
  const used: string[] = [];
  for (let first = 0; first < hashes.length; first += sweptAtOnce) {
    used.push(...(await read(usedOriginals, { hashes: hashes.slice(first, first + sweptAtOnce) })));
  }
  if (used.length > 0) takeOver(used, from, to);
}

/** Files that are looked at together, so that nobody else need wait for all of them. */
const sweptAtOnce = 500;

/** Bytes of documents as files beside the database. */
export function createOriginals(folder: string, { read, write }: Transactions): OriginalStore {
  const { list, ...files } = createOriginalFiles(folder);
  const release = createRelease({ write });
  return {
    ...files,
    release,
    async sweep() {
      const hashes = list();
      let released = 0;
      for (let first = 0; first < hashes.length; first += sweptAtOnce) {
        const some = hashes.slice(first, first + sweptAtOnce);
        const used = new Set(await read(usedOriginals, { hashes: some }));
        // Nearly always none are left over: so the lock of the writer is not even taken.
        released += await release(some.filter((hash) => !used.has(hash)));
      }
      return released;
    },
  };
}
