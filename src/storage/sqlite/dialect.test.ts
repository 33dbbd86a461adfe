import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/backends.ts';
import type { CountingRequest } from '../../../test/support/counting-thread.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';

const from = new URL('../../../test/support/', import.meta.url).href;
const folder = temporaryFolder();

function start(name: string) {
  return createWorkerCalls<CountingRequest, number>({
    from,
    file: 'counting-thread',
    name,
    workerData: join(folder, `${name}.db`),
    exitError: (cause) => new Error('lost', { cause }),
  });
}

test('runs no other transaction while one awaits', async () => {
  const thread = start('together');
  const written = await Promise.all([1, 2, 3].map(() => thread.call('count')));
  assert.deepEqual(written, [1, 2, 3]);
  await thread.close();
});

test('rolls back a failed transaction without affecting others', async () => {
  const thread = start('failing');
  const [first, second, read] = await Promise.allSettled([
    thread.call('count and fail'),
    thread.call('count'),
    thread.call('read'),
  ]);
  assert.equal(first.status, 'rejected');
  assert.deepEqual(
    [second, read],
    [
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 1 },
    ],
  );
  await thread.close();
});
