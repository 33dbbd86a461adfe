import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { documentTermsOf } from '../../words/document-terms.ts';
import type { IndexedTexts } from '../word-index.ts';
import { packTexts, unpackTerms } from './packed-terms.ts';
import { createTermCutter } from './term-cutter.ts';
import { type CutCall, type CutReply, type CutterData, claim } from './term-messages.ts';

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
  const cutter = createTermCutter();
  context.after(() => cutter.close());
  // Few are cut here; of many, the first ones while the thread starts.
  assert.deepEqual([...cutter.cut(texts.slice(0, 3))], wanted.slice(0, 3));
  assert.deepEqual([...cutter.cut([])], []);
  for (let round = 0; round < 10; round += 1) assert.deepEqual([...cutter.cut(texts)], wanted);
});

test('what is left of a write that failed is not taken for the next one', (context) => {
  const cutter = createTermCutter();
  context.after(() => cutter.close());
  for (let round = 0; round < 10; round += 1) {
    for (const terms of cutter.cut(texts.toReversed())) {
      assert.deepEqual(terms, wanted.at(-1));
      break;
    }
    assert.deepEqual([...cutter.cut(texts)], wanted);
  }
});

test('without its thread all is cut here', () => {
  const cutter = createTermCutter();
  const terms = cutter.cut(texts)[Symbol.iterator]();
  assert.deepEqual(terms.next().value, wanted[0]);
  cutter.close();
  const rest: unknown[] = [];
  for (let next = terms.next(); !next.done; next = terms.next()) rest.push(next.value);
  assert.deepEqual(rest, wanted.slice(1));
});

test('the thread cuts what nobody has claimed, and says so behind its reply', async (context) => {
  const { port1, port2 } = new MessageChannel();
  const workerData: CutterData = { language: 'english', replies: port2 };
  const worker = new Worker(new URL('./terms-worker.ts', import.meta.url), { workerData, transferList: [port2] });
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
