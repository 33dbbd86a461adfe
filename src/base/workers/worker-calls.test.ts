import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { TestRequest } from '../../../test/support/test-thread.ts';
import { isCarrelError } from '../errors.ts';
import { createWorkerCalls } from './worker-calls.ts';

const from = new URL('../../../test/support/', import.meta.url).href;
const exitError = (cause: unknown) => new Error('lost', { cause });
const start = (workerData?: string) =>
  createWorkerCalls<TestRequest, unknown>({ from, file: 'test-thread', name: 'test', workerData, exitError });

test('runs calls one at a time, in order, even if they await', async () => {
  const calls = start();
  const answers = await Promise.all([
    calls.call({ kind: 'steps', name: 'a', count: 3 }),
    calls.call({ kind: 'steps', name: 'b', count: 2 }),
  ]);
  assert.deepEqual(answers, [
    ['a1', 'a2', 'a3'],
    ['a1', 'a2', 'a3', 'b1', 'b2'],
  ]);
  await calls.close();
});

test('an error keeps its code, data and cause, and does not end the thread', async () => {
  const calls = start();
  const error: unknown = await calls.call({ kind: 'fail' }).catch((thrown: unknown) => thrown);
  assert.ok(isCarrelError(error));
  const { code, message, data, retryAfterSeconds } = error;
  assert.deepEqual(
    [code, message, data, retryAfterSeconds],
    ['rate_limit_exceeded', 'Rate limit exceeded.', { limit: 1 }, 7],
  );
  assert.match(String(error.cause), /inner/);
  assert.deepEqual(await calls.call({ kind: 'steps', name: 'a', count: 1 }), ['a1']);
  await calls.close();
});

test('the thread can no longer use transferred buffers', async () => {
  const calls = start();
  assert.deepEqual(await calls.call({ kind: 'bytes' }), new Uint8Array(8));
  assert.equal(await calls.call({ kind: 'bytes' }), 'gone');
  await calls.close();
});

test('all calls fail when the thread dies, later ones too', async () => {
  const calls = start();
  await Promise.all([
    assert.rejects(calls.call({ kind: 'die' }), /lost/),
    assert.rejects(calls.call({ kind: 'fail' }), /lost/),
  ]);
  assert.equal(calls.alive, false);
  await assert.rejects(calls.call({ kind: 'fail' }), /lost/);
  await calls.close();
});

test('all calls fail when the thread is terminated', async () => {
  const calls = start();
  const failed = Promise.all([
    assert.rejects(calls.call({ kind: 'never' }), /lost/),
    assert.rejects(calls.call({ kind: 'fail' }), /lost/),
  ]);
  await calls.ready();
  await calls.terminate();
  await failed;
  assert.equal(calls.alive, false);
});

test('if the handler fails to open, calls fail with its error', async () => {
  const calls = start('refuse');
  await assert.rejects(calls.call({ kind: 'fail' }), { code: 'invalid_config', message: 'Invalid test settings.' });
  await assert.rejects(calls.ready(), { code: 'invalid_config' });
  assert.equal(calls.alive, false);
  await calls.close();
});

test('a caller that gives up does not end the thread', async () => {
  const calls = start();
  const gone = new AbortController();
  const call = calls.call({ kind: 'steps', name: 'a', count: 2 }, gone.signal);
  gone.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  assert.deepEqual(await calls.call({ kind: 'steps', name: 'b', count: 1 }), ['a1', 'a2', 'b1']);
  await calls.close();
});

test('close answers earlier calls first', async () => {
  const calls = start();
  const [answer] = await Promise.all([calls.call({ kind: 'steps', name: 'a', count: 5 }), calls.close()]);
  assert.deepEqual(answer, ['a1', 'a2', 'a3', 'a4', 'a5']);
});

test('only a thread with pending calls keeps the process alive', () => {
  const script = `
    import { createWorkerCalls } from './src/base/workers/worker-calls.ts';
    const calls = createWorkerCalls({ from: ${JSON.stringify(from)}, file: 'test-thread', name: 'test', exitError: () => new Error() });
    calls.call({ kind: 'steps', name: 'a', count: 3 }).then((answer) => console.log(answer.join()));`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('../../../', import.meta.url),
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual([stdout.trim(), status], ['a1,a2,a3', 0]);
});
