import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { faultObstacle, prepareFaults } from '../../bench/soak/fault-control.ts';
import { temporaryFolder } from '../support/backends.ts';
import { size } from '../support/sizes.ts';

/** G2: a sample of `npm run soak`. At least 5,000 points before a release. */
const points = size({ quick: 150, full: 300, variable: 'CARREL_FAULT_POINTS' });

test(`T144: ${points} failing system calls in the write path, one each: acknowledged writes exist, and others say why`, {
  skip: faultObstacle() ?? false,
}, async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const { env } = prepareFaults(folder, data);
  const script = join(import.meta.dirname, '../../bench/soak/sweep-faults.ts');
  const child = spawn(process.execPath, [script, data, String(points)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const { points: reached, acknowledged, refused, faults } = JSON.parse(output);
  assert.deepEqual(faults, []);
  assert.equal(reached, points);
  assert.ok(acknowledged > 0, 'every write ends without a fault once');
  assert.ok(Object.keys(refused).length > 0);
});
