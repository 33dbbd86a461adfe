import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSet } from './id-set.ts';

test('holds the ids it was made of and no others, near and far', () => {
  const ids = [0, 31, 32, 65_535, 65_536, 2 ** 40, 2 ** 52 + 1];
  for (const set of [createIdSet(ids), createIdSet(new Set(ids)), createIdSet(Float64Array.from(ids))]) {
    for (const id of ids) assert.equal(set.has(id), true, String(id));
    const mask = new Int32Array(3).fill(-1);
    set.mark(
      Float64Array.from({ length: 40 }, (_, place) => place),
      40,
      mask,
      1,
    );
    assert.deepEqual([...mask], [-1, 1 | (1 << 31), 1]);
    for (const id of [1, 30, 33, 65_537, 2 ** 40 + 1, 2 ** 52]) assert.equal(set.has(id), false, String(id));
  }
});
