import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

function filled(...items: [caller: string, item: number][]): FairQueue<number> {
  const queue = new FairQueue<number>();
  for (const [caller, item] of items) queue.add(caller, item);
  return queue;
}

function takeAll(queue: FairQueue<number>): number[] {
  const items: number[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) items.push(next.item);
  return items;
}

test('callers alternate, each keeping the order of its items', () => {
  const queue = filled(['a', 1], ['a', 2], ['a', 3], ['b', 4], ['c', 5], ['b', 6]);
  assert.deepEqual(takeAll(queue), [1, 4, 5, 2, 6, 3]);
  assert.equal(queue.size, 0);
});

test('a new caller is served right after the current one', () => {
  const queue = filled(['a', 1], ['a', 2], ['a', 3]);
  assert.equal(queue.take()?.item, 1);
  queue.add('b', 4);
  assert.deepEqual(takeAll(queue), [2, 4, 3]);
});

test('skips callers that may not run, and removed items', () => {
  const queue = filled(['a', 1], ['b', 2], ['b', 3]);
  assert.equal(queue.take((caller) => caller !== 'a')?.item, 2);
  assert.equal(queue.delete('b', 3), true);
  assert.equal(queue.delete('b', 3), false);
  assert.deepEqual([queue.size, takeAll(queue)], [1, [1]]);
});

test('a full queue drops the last item of the caller with the most items', () => {
  const queue = filled(['a', 1], ['a', 2], ['b', 3], ['b', 4], ['b', 5]);
  assert.equal(queue.takeFromLongest('c'), 5);
  assert.equal(queue.takeFromLongest('a'), undefined);
  assert.equal(queue.size, 4);
});
