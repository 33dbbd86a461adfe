import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVerdictCache } from './verdict-cache.ts';

test('a verdict is good for a minute, for the same condition with the same values', async () => {
  let time = 0;
  let looks = 0;
  const verdicts = createVerdictCache(() => time);
  const ask = (value: string, isTrue: boolean) =>
    verdicts({ sql: 'SELECT 1 WHERE x = ?', values: [value] }, async () => {
      looks += 1;
      return isTrue;
    });
  assert.deepEqual([await ask('a', true), await ask('a', false), await ask('b', false)], [true, true, false]);
  assert.equal(looks, 2);
  time = 60_000;
  assert.deepEqual([await ask('a', false), await ask('a', true)], [false, false]);
  await assert.rejects(verdicts({ sql: 'SELECT 2', values: [] }, () => Promise.reject(new Error('away'))));
  assert.equal(await verdicts({ sql: 'SELECT 2', values: [] }, async () => true), true);
});

test('of many conditions, and of long ones, not everything is kept', async () => {
  let looks = 0;
  const verdicts = createVerdictCache(() => 0);
  const ask = (value: string) =>
    verdicts({ sql: 'SELECT 1 WHERE x = ?', values: [value] }, async () => {
      looks += 1;
      return true;
    });
  for (const value of ['x'.repeat(5000), 'x'.repeat(5000)]) await ask(value);
  assert.equal(looks, 2);
  for (let number = 0; number < 1001; number += 1) await ask(`${number}`);
  looks = 0;
  await ask('0');
  assert.equal(looks, 1);
});
