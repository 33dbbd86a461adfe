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

test('opens the resource for its first user and closes it after the last release', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  const [one, other] = await Promise.all([lease(), lease()]);
  assert.equal(one.resource, other.resource);
  await one.release();
  await one.release();
  assert.deepEqual(events, ['open 1']);
  await other.release();
  assert.deepEqual(events, ['open 1', 'close 1']);
});

test('reopens a resource that is requested after the last release', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  await (await lease()).release();
  const again = await lease();
  assert.equal(again.resource.number, 2);
  assert.deepEqual(events, ['open 1', 'close 1', 'open 2']);
});

test('does not close a resource that somebody waits for', async () => {
  const { events, open } = countingPart();
  const lease = createLeases(open);
  const first = lease();
  const second = lease();
  await (await first).release();
  assert.equal((await second).resource.number, 1);
  assert.deepEqual(events, ['open 1']);
});

test('retries a failed open', async () => {
  const { open } = countingPart();
  let fails = true;
  const lease = createLeases(async () => {
    if (fails) throw new Error('no database yet');
    return open();
  });
  await Promise.all([assert.rejects(lease(), /no database yet/), assert.rejects(lease(), /no database yet/)]);
  fails = false;
  assert.equal((await lease()).resource.number, 1);
});
