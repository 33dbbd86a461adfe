import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { useLanguage } from '../../words/language.ts';
import { type Database, type DatabaseConfig, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { settleAnalysis } from './rewrite-words.ts';
import type { StoreCall, ThreadMessage } from './sqlite-thread.ts';
import { createStores, type SqliteStores } from './stores.ts';
import { toWire } from './wire-error.ts';
import { createWriteHelper, type WriteHelper } from './write-helper.ts';

/**
 * The thread of one connection. SQLite works on the thread that asks it, and a search may take as long as its bound
 * allows; here it holds up nobody who is answering calls.
 */
assert(parentPort !== null, 'runs as a worker only');
const port = parentPort;
const config: DatabaseConfig = workerData;

await start();

async function start(): Promise<void> {
  let database: Database;
  try {
    database = openDatabase(config);
  } catch (error) {
    send({ kind: 'failed', error: toWire(error) });
    return;
  }
  try {
    if (config.role === 'reader') await useLanguage(config.language ?? 'english');
    else {
      migrate(database);
      await settleAnalysis(database, config.language);
    }
    const helper = config.role === 'writer' ? createWriteHelper({ path: config.path }) : undefined;
    serve(database, helper);
    send({ kind: 'ready' });
  } catch (error) {
    database.close();
    send({ kind: 'failed', error: toWire(error) });
  }
}

function serve(database: Database, helper: WriteHelper | undefined): void {
  const { stores, transactions } = createStores(database, { documentsDir: config.documentsDir, helper });
  port.on('message', async (message: StoreCall | 'close') => {
    if (message === 'close') {
      await transactions.alone(() => close(database, helper));
      return;
    }
    try {
      const value =
        message.store === 'operations'
          ? await perform(stores, message)
          : await transactions.alone(() => performNow(database, stores, message));
      send({ kind: 'result', id: message.id, value }, message.method === 'after' ? buffersOf(value) : []);
    } catch (error) {
      send({ kind: 'error', id: message.id, error: toWire(error) });
    }
  });
}

/** The helper first: whoever closes the file last clears away its log. */
async function close(database: Database, helper: WriteHelper | undefined): Promise<void> {
  await helper?.close();
  database.close();
  port.close();
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

function send(message: ThreadMessage, handedOver: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, [...handedOver]);
}
