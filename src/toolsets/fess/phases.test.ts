import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Progress } from '../../tools/call.ts';
import { createPhases } from './phases.ts';

test('progress increases strictly, even during a long phase, and ends at its total (000 §9.2)', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const seen: Progress[] = [];
  const phases = createPhases({ report: (progress) => void seen.push(progress) });
  await phases.during('fetching', async () => context.mock.timers.tick(30_000));
  await phases.during('converting', async () => {});
  await phases.during('fetching', async () => {});
  phases.done();
  context.mock.timers.tick(10_000);
  const values = seen.map(({ progress }) => progress);
  assert.ok(values.length > 30);
  assert.ok(values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0)));
  assert.deepEqual(seen.at(-1), { progress: 100, total: 100, message: 'done' });
  assert.deepEqual([...new Set(seen.map(({ message }) => message))], ['fetching', 'converting', 'done']);
});
