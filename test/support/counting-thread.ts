import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../src/base/workers/answer-calls.ts';
import type { Statements } from '../../src/storage/dialect.ts';
import { numberOf } from '../../src/storage/rows.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { createLocalTransactions, createSqliteDialect } from '../../src/storage/sqlite/dialect.ts';

export type CountingRequest = 'count' | 'count and fail' | 'read';

/** A database thread like sqlite-worker.ts. Its operations pause between reading and writing, where others could interfere. */
answerCalls<CountingRequest, number>(() => {
  const database = openDatabase({ path: workerData, role: 'writer', busyTimeoutMs: 0 });
  database.exec('CREATE TABLE counter (value INTEGER NOT NULL); INSERT INTO counter VALUES (0)');
  const { write, read } = createLocalTransactions(database, createSqliteDialect(database, { documentsDir: '' }));
  return {
    perform: (request) => (request === 'read' ? read(readCounter, undefined, '') : write(countUp, request, '')),
    close: () => database.close(),
  };
});

async function readCounter(on: Statements): Promise<number> {
  const [row = {}] = await on.query('SELECT value FROM counter');
  return numberOf(row, 'value');
}

async function countUp(on: Statements, request: CountingRequest): Promise<number> {
  const value = (await readCounter(on)) + 1;
  await yieldToEventLoop();
  await on.query('UPDATE counter SET value = ?', [value]);
  await yieldToEventLoop();
  if (request === 'count and fail') throw new Error('failed on request');
  return value;
}
