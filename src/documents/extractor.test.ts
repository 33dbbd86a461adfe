import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pdfBombs } from '../../test/security/parsers/bombs.ts';
import { createExtractor } from './extractor.ts';

const extractor = createExtractor({ cpuMsMax: 20_000, memoryMb: 256, workersMax: 2, bytesMax: 1_000_000 });
after(() => extractor.close());

const small = { bytes: Buffer.from('<p>small</p>'), contentType: 'text/html', mode: 'text' as const };

function bombNamed(part: string): { bytes: Uint8Array; mode: 'text' } {
  const bomb = pdfBombs.find(({ name }) => name.includes(part));
  assert.ok(bomb);
  return { bytes: bomb.bytes(), mode: 'text' };
}

test('reads many documents at once', async () => {
  const words = Array.from({ length: 20 }, (_, index) => `word${index}`);
  const read = words.map((word) => extractor.extract({ ...small, bytes: Buffer.from(`<p>${word}`) }));
  assert.deepEqual(
    (await Promise.all(read)).map(({ text }) => text),
    words,
  );
});

test("reports a reader's error code without its external text", async () => {
  const error = await extractor
    .extract({ bytes: Buffer.from('%PDF-1.7 secret words'), mode: 'text' })
    .catch((caught) => caught);
  assert.equal(error.code, 'extraction_failed');
  assert.ok(!error.message.includes('secret'));
});

test('refuses too many bytes without reading them', async () => {
  await assert.rejects(extractor.extract({ ...small, bytes: new Uint8Array(1_000_001) }), {
    code: 'document_too_large',
  });
});

/** One worker, which the tests below stop and kill. Each reads the next document. */
const single = createExtractor({ cpuMsMax: 500, memoryMb: 256, workersMax: 1, queueMax: 2 });
after(() => single.close());

async function singleWorker(): Promise<number> {
  const others = new Set(childrenOf());
  await single.extract(small);
  workerId = childrenOf().find((child) => !others.has(child)) ?? workerId;
  return workerId;
}
let workerId = 0;

function childrenOf(): number[] {
  const listed = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return listed.trim().split(' ').filter(Boolean).map(Number);
}

test('counts only the CPU time of the worker', async (t) => {
  if (process.platform !== 'linux') return t.skip('workers are found in /proc');
  const worker = await singleWorker();
  process.kill(worker, 'SIGSTOP');
  const read = single.extract(small);
  await delay(750);
  process.kill(worker, 'SIGCONT');
  assert.equal((await read).text, 'small');
});

test('a reader killed by the system is not reported as out of memory, and the next is read', async (t) => {
  if (process.platform !== 'linux') return t.skip('workers are found in /proc');
  const worker = await singleWorker();
  // Stopped first, so that it has the document but has not answered.
  process.kill(worker, 'SIGSTOP');
  const failed = single.extract(small);
  setImmediate(() => process.kill(worker, 'SIGKILL'));
  const error = await failed.catch((caught) => caught);
  assert.equal(error.code, 'extraction_interrupted');
  assert.doesNotMatch(error.message, /needed more than/);
  assert.equal((await single.extract(small)).text, 'small');
});

test('bounds the queue', async () => {
  const accepted = Array.from({ length: 3 }, () => single.extract(small));
  await assert.rejects(single.extract(small), { code: 'too_many_in_flight' });
  assert.deepEqual(
    (await Promise.all(accepted)).map(({ text }) => text),
    ['small', 'small', 'small'],
  );
});

test('stops a document that takes too much CPU time and reads the next', async () => {
  const failed = single.extract(bombNamed('forms that double'));
  const waiting = single.extract(small);
  await assert.rejects(failed, { code: 'extraction_timeout', kind: 'timeout' });
  assert.equal((await waiting).text, 'small');
});

test('stops a document that takes too much off-heap memory and reads the next', async () => {
  const failed = single.extract(bombNamed('Flate to 300 MB'), { cpuMsMax: 60_000 });
  const waiting = single.extract(small);
  await assert.rejects(failed, { code: 'extraction_memory', kind: 'limit' });
  assert.equal((await waiting).text, 'small');
});

test('cancelling frees the slot of a waiting or running document', async () => {
  const [running, waiting] = [new AbortController(), new AbortController()];
  const first = single.extract(bombNamed('forms that double'), { signal: running.signal, cpuMsMax: 60_000 });
  const second = single.extract(small, { signal: waiting.signal });
  const third = single.extract(small);
  waiting.abort();
  await assert.rejects(second, { code: 'cancelled' });
  running.abort();
  await assert.rejects(first, { code: 'cancelled' });
  assert.equal((await third).text, 'small');
  await assert.rejects(single.extract(small, { signal: AbortSignal.abort() }), { code: 'cancelled' });
});

test('closing cancels running and waiting documents, and later ones are refused', async () => {
  const calls = [single.extract(bombNamed('forms that double'), { cpuMsMax: 60_000 }), single.extract(small)];
  const outcomes = Promise.allSettled(calls);
  await single.close();
  for (const outcome of await outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'cancelled');
  }
  await assert.rejects(single.extract(small), { code: 'cancelled' });
});

test('an idle worker does not keep the program alive and gets none of its environment', async () => {
  const program = `
    const { createExtractor } = await import(${JSON.stringify(new URL('./extractor.ts', import.meta.url).href)});
    const extractor = createExtractor({ cpuMsMax: 20000, memoryMb: 256, workersMax: 1, idleMs: 3600000 });
    console.log((await extractor.extract({ bytes: Buffer.from('<p>done'), mode: 'text', contentType: 'text/html' })).text);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    timeout: 60_000,
  });
  assert.equal(stdout.trim(), 'done');
});
