import { workerData } from 'node:worker_threads';
import { answerCalls, type CallHandler } from '../../../base/workers/answer-calls.ts';
import { useLanguage } from '../../../words/language.ts';
import { nameOf, operationOf } from '../../operations.ts';
import { vectorsAfter } from '../../vectors/read-vectors.ts';
import { applyAnalysis } from '../../words/word-analysis.ts';
import { type Database, type DatabaseConfig, openDatabase } from '../database.ts';
import { makePrivate } from '../database-file.ts';
import { createLocalTransactions, createSqliteDialect } from '../dialect.ts';
import { createDiskReserve, type DiskReserve, freesSpace } from '../disk-reserve.ts';
import { migrate } from '../migrate.ts';
import { isFull, openFailure, storageError } from '../storage-error.ts';
import type { OperationCall } from './sqlite-thread.ts';

/** Entry point of a thread with one connection. SQLite blocks its thread, so it does not run on the serving thread. */
const config: DatabaseConfig = workerData;

answerCalls(async () => {
  const reserve = createDiskReserve(config.path);
  try {
    return await open(openDatabase(config), reserve);
  } catch (error) {
    if (config.role === 'writer' && isFull(error) && reserve.release()) return openInReserve(reserve);
    throw storageError(error);
  }
});

/** Opens the database on a full disk, using the reserve. Even an empty log takes space. */
async function openInReserve(reserve: DiskReserve): Promise<Handler> {
  let database: Database | undefined;
  try {
    database = openDatabase(config);
    return await open(database, reserve);
  } catch (error) {
    throw storageError(error);
  } finally {
    reserve.regain(database);
  }
}

type Handler = CallHandler<OperationCall, unknown>;

async function open(database: Database, reserve: DiskReserve): Promise<Handler> {
  const dialect = createSqliteDialect(database, { documentsDir: config.documentsDir ?? '' });
  const transactions = createLocalTransactions(database, dialect);
  try {
    if (config.role === 'reader') await useLanguage(config.language ?? 'english');
    else {
      await migrate(database);
      makePrivate(config.path);
      const now = new Date().toISOString();
      await applyAnalysis(
        {
          read: (operation, request) => transactions.read(operation, request, now),
          write: (operation, request) => transactions.write(operation, request, now),
        },
        config.language,
      );
    }
  } catch (error) {
    database.close();
    throw error;
  }
  const perform: Perform = ({ kind, operation, request, now }) =>
    // The cast is needed because messages have no types. The caller ensures that the request fits the operation.
    transactions[kind](operationOf(operation), request as never, now);
  return {
    perform: config.role === 'writer' ? withReserve(reserve, database, perform) : perform,
    transfer: ({ operation }, value) => (operation === nameOf(vectorsAfter) ? buffersOf(value) : []),
    explain: (error) => storageError(openFailure(config.path, error)),
    close: () => database.close(),
  };
}

type Perform = (call: OperationCall) => Promise<unknown>;

/** Wraps `perform`: on a full disk, operations that free space use the reserve. */
function withReserve(reserve: DiskReserve, database: Database, perform: Perform): Perform {
  let isReserved = false;
  return async (call) => {
    try {
      const answer = await perform(call);
      if (!isReserved && call.kind === 'write') {
        isReserved = true;
        // Runs after the answer was sent, so that the caller does not wait for it.
        setImmediate(() => reserve.reserve());
      }
      return answer;
    } catch (error) {
      if (!isFull(error) || !freesSpace(operationOf(call.operation))) throw error;
      reserve.release(database);
      try {
        return await perform(call);
      } finally {
        reserve.regain(database);
      }
    }
  };
}

/** Returns the buffers of a block of vectors. They are transferred to the other thread, not copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  return Object.values(Object(value)).flatMap((list) =>
    ArrayBuffer.isView(list) && list.buffer instanceof ArrayBuffer ? [list.buffer] : [],
  );
}
