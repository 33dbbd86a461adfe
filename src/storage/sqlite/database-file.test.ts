import assert from 'node:assert/strict';
import { once } from 'node:events';
import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '../../../test/support/child-program.ts';

const rounds = 3_000;

/** Checks each round's path again and again, until the next round or a reported loss. */
const checker = `
  const { parentPort, workerData: { module, folder, round, rounds } } = require('node:worker_threads');
  import(module).then(({ checkNotLost }) => {
    parentPort.postMessage('ready');
    let at = 0;
    while ((at = Atomics.load(round, 0)) < rounds) checkNotLost({ path: folder + '/' + at + '.db' });
    parentPort.postMessage('done');
  });
`;

test('a database that another process creates during the check is not reported as lost', async (t) => {
  const folder = makeFolder(t);
  const complete = join(folder, 'complete');
  writeFileSync(complete, 'content');
  const round = new Int32Array(new SharedArrayBuffer(4));
  const module = new URL('./database-file.ts', import.meta.url).href;
  const worker = new Worker(checker, { eval: true, workerData: { module, folder, round, rounds } });
  t.after(() => worker.terminate());
  assert.deepEqual(await once(worker, 'message'), ['ready']);
  const done = once(worker, 'message');
  while (Atomics.load(round, 0) < rounds) {
    const path = join(folder, `${Atomics.load(round, 0)}.db`);
    linkSync(complete, path);
    linkSync(complete, `${path}-reserve`);
    Atomics.add(round, 0, 1);
  }
  assert.deepEqual(await done, ['done']);
});
