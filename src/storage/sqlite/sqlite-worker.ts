import assert from 'node:assert/strict';
import { workerData } from 'node:worker_threads';
import { answerCalls, type CallHandler } from '../../base/workers/answer-calls.ts';
import { useLanguage } from '../../words/language.ts';
import { nameOf } from '../operations.ts';
import { vectorsAfter } from '../stores/vectors/read-vectors.ts';
import { settleAnalysis } from '../stores/words/settle-analysis.ts';
import { closeToOthers, type Database, type DatabaseConfig, openDatabase } from './database.ts';
import { createDiskReserve, makesRoom } from './disk-reserve.ts';
import { migrate } from './migrate.ts';
import { isFull, storageError } from './sqlite-errors.ts';
import type { StoreCall } from './sqlite-thread.ts';
import { createStores, type SqliteStores } from './stores.ts';
import { createWriteHelper } from './write-helper.ts';

/**
 * The thread of one connection. SQLite works on the thread that asks it, and a search may take as long as its bound
 * allows; here it holds up nobody who is answering calls.
 */
const config: DatabaseConfig = workerData;

answerCalls(async () => {
  try {
    return await open(openDatabase(config));
  } catch (error) {
    throw storageError(error);
  }
});

async function open(database: Database): Promise<CallHandler<StoreCall, unknown>> {
  const helper = config.role === 'writer' ? createWriteHelper({ path: config.path }) : undefined;
  const { stores, transactions } = createStores(database, { documentsDir: config.documentsDir, helper });
  try {
    if (config.role === 'reader') await useLanguage(config.language ?? 'english');
    else {
      migrate(database);
      closeToOthers(config.path);
      const now = new Date().toISOString();
      await settleAnalysis(
        {
          read: (operation, request) => transactions.read(operation, request, now),
          write: (operation, request) => transactions.write(operation, request, now),
        },
        config.language,
      );
    }
  } catch (error) {
    await helper?.close();
    database.close();
    throw error;
  }
  const reserve = config.role === 'writer' ? createDiskReserve(config.path) : undefined;
  let holds = false;

  async function performOperation(call: StoreCall): Promise<unknown> {
    if (reserve === undefined) return perform(stores, call);
    try {
      const answer = await perform(stores, call);
      if (!holds) void transactions.alone(() => reserve.hold());
      holds = true;
      return answer;
    } catch (error) {
      if (!isFull(error) || !makesRoom(String(call.args[0]))) throw error;
      await transactions.alone(() => reserve.spend(database));
      try {
        return await perform(stores, call);
      } finally {
        await transactions.alone(() => reserve.regain(database));
      }
    }
  }

  return {
    perform: (call) =>
      call.store === 'operations'
        ? performOperation(call)
        : transactions.alone(() => performNow(database, stores, call)),
    handOver: ({ args }, value) => (args[0] === nameOf(vectorsAfter) ? buffersOf(value) : []),
    explain: storageError,
    /** The helper first: whoever closes the file last clears away its log. */
    close: () =>
      transactions.alone(async () => {
        await helper?.close();
        database.close();
      }),
  };
}

function performNow(database: Database, stores: SqliteStores, call: StoreCall): unknown {
  if (config.role === 'writer') return perform(stores, call);
  // All statements of one read see the same state.
  database.exec('BEGIN');
  try {
    return perform(stores, call);
  } finally {
    database.exec('COMMIT');
  }
}

function perform(stores: SqliteStores, { store, method, args }: StoreCall): unknown {
  const table = stores[store];
  const run: unknown = Reflect.get(table, method);
  assert(typeof run === 'function');
  return Reflect.apply(run, table, args);
}

/** Of a block of vectors, which is handed over rather than copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  return Object.values(Object(value)).flatMap((list) =>
    ArrayBuffer.isView(list) && list.buffer instanceof ArrayBuffer ? [list.buffer] : [],
  );
}
