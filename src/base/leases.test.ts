import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLeases } from './leases.ts';

function countingPart() {
  const events: string[] = [];
  let number = 0;
  const open = async () => {
    number += 1;
    const own = number;
    events.push(`open ${own}`);
    return { number: own, close: async () => void events.push(`close ${own}`) };
  };
  return { events, open };
}

test('a part is opened for the first that asks and closed when the last gives it back', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  const [one, other] = await Promise.all([lease(), lease()]);
  assert.equal(one.part, other.part);
  await one.release();
  await one.release();
  assert.deepEqual(events, ['open 1']);
  await other.release();
  assert.deepEqual(events, ['open 1', 'close 1']);
});

test('whoever asks after the last release gets an open part', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  await (await lease()).release();
  const again = await lease();
  assert.equal(again.part.number, 2);
  assert.deepEqual(events, ['open 1', 'close 1', 'open 2']);
});

test('a part is not closed under one who waits for it', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  const first = lease();
  const second = lease();
  await (await first).release();
  assert.equal((await second).part.number, 1);
  assert.deepEqual(events, ['open 1']);
});

test('an open that failed is tried again', async () => {
  const { open } = countingPart();
  let fails = true;
  const lease = createLeases(async () => {
    if (fails) throw new Error('no database yet');
    return open();
  });
  await Promise.all([assert.rejects(lease(), /no database yet/), assert.rejects(lease(), /no database yet/)]);
  fails = false;
  assert.equal((await lease()).part.number, 1);
});
