import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursorSigner } from '../tools/signed-cursor.ts';
import { listInPages } from './list-in-pages.ts';

const cursors = createCursorSigner('numbers');

/** Reads all pages of a number list, which `change` may replace between pages. */
async function readAll(numbers: number[], change: (numbers: number[], page: number) => number[] = (same) => same) {
  let all = numbers;
  const read = async (offset: number, limit: number) => all.slice(offset, offset + limit);
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page += 1) {
    const { members, nextCursor } = await listInPages({ read, idOf: String }, cursors, cursor);
    seen.push(...members);
    if (nextCursor === undefined) return seen;
    cursor = nextCursor;
    all = change(all, page);
  }
}

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index);

test('contract §2: an unchanged list is returned completely, at any length', async () => {
  for (const length of [0, 1, 49, 50, 51, 99, 100, 101, 249]) {
    assert.deepEqual(await readAll(numbersTo(length)), numbersTo(length));
  }
});

test('contract §2: members that stay are returned once, despite additions and removals before them', async () => {
  for (const [added, removed] of [
    [1, 0],
    [60, 0],
    [250, 0],
    [0, 1],
    [0, 45],
    [0, 160],
    [7, 13],
  ] as const) {
    let next = 1000;
    const gone = new Set<number>();
    const seen = await readAll(numbersTo(600), (numbers, page) => {
      const remaining = numbers.filter(
        (each) => each >= page * 50 + 46 || each < page * 50 + 46 - removed || each > 999,
      );
      for (const each of numbers) if (!remaining.includes(each)) gone.add(each);
      next += added;
      return [...Array.from({ length: added }, (_, index) => next - index), ...remaining];
    });
    assert.equal(gone.size > 0, removed > 0);
    const old = seen.filter((each) => each < 1000);
    assert.deepEqual(old, numbersTo(600));
    assert.equal(seen.length, old.length, 'items before the position are skipped');
  }
});

test('contract §2: members that move to the front do not make others repeat', async () => {
  const seen = await readAll(numbersTo(200), (numbers, page) => {
    const moved = [page * 50 + 49, page * 50 + 47];
    return [...moved, ...numbers.filter((each) => !moved.includes(each))];
  });
  assert.deepEqual(seen, numbersTo(200));
});

test('contract §4: rejects a cursor whose position is gone', async () => {
  await assert.rejects(
    readAll(numbersTo(200), (numbers) => numbers.filter((each) => each < 45 || each > 55)),
    { code: 'invalid_cursor' },
  );
});
