import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { documentTermsOf } from '../../../words/document-terms.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import { openDatabase } from '../database.ts';
import { type CutCall, type CutReply, claim, type HelperData } from './helper-messages.ts';
import { packTexts, unpackTerms } from './packed-terms.ts';
import { createWriteHelper } from './write-helper.ts';

const texts = Array.from(
  { length: 700 },
  (_, number): IndexedTexts => ({
    title: number % 3 === 0 ? '' : `Guide ${number}`,
    heading: number % 5 === 0 ? '' : 'Running\nfooBar.baz',
    body: `Ann: the runners ran ${number} times. ${['Café', '機械学習', 'C++', ''][number % 4]} `.repeat(
      1 + (number % 7),
    ),
  }),
);
const wanted = texts.map(documentTermsOf);

test('the terms come in the order of the texts, whichever thread has cut them', (context) => {
  const helper = createWriteHelper();
  context.after(() => helper.close());
  // Few are tokenised here; of many, the first ones while the thread starts.
  assert.deepEqual([...helper.cut(texts.slice(0, 3))], wanted.slice(0, 3));
  assert.deepEqual([...helper.cut([])], []);
  for (let round = 0; round < 10; round += 1) assert.deepEqual([...helper.cut(texts)], wanted);
});

test('what is left of a write that failed is not taken for the next one', (context) => {
  const helper = createWriteHelper();
  context.after(() => helper.close());
  for (let round = 0; round < 10; round += 1) {
    for (const terms of helper.cut(texts.toReversed())) {
      assert.deepEqual(terms, wanted.at(-1));
      break;
    }
    assert.deepEqual([...helper.cut(texts)], wanted);
  }
});

test('without its thread all is tokenised here', () => {
  const helper = createWriteHelper();
  const terms = helper.cut(texts)[Symbol.iterator]();
  assert.deepEqual(terms.next().value, wanted[0]);
  helper.close();
  const rest: unknown[] = [];
  for (let next = terms.next(); !next.done; next = terms.next()) rest.push(next.value);
  assert.deepEqual(rest, wanted.slice(1));
});

test('the thread cuts what nobody has claimed, and says so behind its reply', async (context) => {
  const { port1, port2 } = new MessageChannel();
  const workerData: HelperData = { language: 'english', replies: port2, path: undefined };
  const worker = new Worker(new URL('./write-helper-worker.ts', import.meta.url), {
    workerData,
    transferList: [port2],
  });
  context.after(async () => {
    port1.close();
    await worker.terminate();
  });
  const claims = new Int32Array(new SharedArrayBuffer(12));
  claims[1] = claim.writer;
  for (const number of [0, 1, 2]) {
    const some = texts.slice(100 * number, 100 * number + 50);
    worker.postMessage({ job: 7, number, claims, texts: packTexts(some) } satisfies CutCall);
  }
  const replies: CutReply[] = [];
  port1.on('message', (reply: CutReply) => replies.push(reply));
  while (replies.length < 2) await once(port1, 'message');
  assert.deepEqual(
    replies.map(({ job, number, terms }) => [job, number, unpackTerms(terms)]),
    [
      [7, 0, wanted.slice(0, 50)],
      [7, 2, wanted.slice(200, 250)],
    ],
  );
  // The reply comes first, so the last claim may still be the thread's.
  assert.deepEqual([...claims.subarray(0, 2)], [claim.done, claim.writer]);
  assert.notEqual(claims[2], claim.free);
});

test('the thread carries the log into the file while another connection writes', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const path = join(folder, 'log.db');
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
  database.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE kept (bytes BLOB)');
  const { port1, port2 } = new MessageChannel();
  const workerData: HelperData = { language: 'english', replies: port2, path };
  const worker = new Worker(new URL('./write-helper-worker.ts', import.meta.url), {
    workerData,
    transferList: [port2],
  });
  context.after(async () => {
    port1.close();
    await worker.terminate();
    database.close();
    rmSync(folder, { recursive: true });
  });
  database.run('INSERT INTO kept VALUES (zeroblob(1000000))');
  database.exec('BEGIN IMMEDIATE');
  database.run('INSERT INTO kept VALUES (zeroblob(1000000))');
  assert.ok(statSync(path).size < 1_000_000);
  const claims = new Int32Array(new SharedArrayBuffer(4));
  worker.postMessage('checkpoint');
  worker.postMessage({ job: 1, number: 0, claims, texts: [] } satisfies CutCall);
  // Its calls are done in their order.
  await once(port1, 'message');
  assert.ok(statSync(path).size > 1_000_000);
  database.exec('COMMIT');
  assert.equal(database.all('SELECT 1 FROM kept').length, 2);
});
