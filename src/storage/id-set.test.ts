import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSet, idSetOf } from './id-set.ts';

test('contains exactly its ids, near and far, here and in another thread', () => {
  const ids = [0, 31, 32, 65_535, 65_536, 2 ** 40, 2 ** 52 + 1];
  for (const made of [
    createIdSet(ids),
    createIdSet(new Set(ids)),
    createIdSet(Float64Array.from(ids)),
    createIdSet(ids.toReversed()),
  ]) {
    for (const set of [made, idSetOf(structuredClone(made.pages))]) {
      for (const id of ids) assert.equal(set.has(id), true, String(id));
      for (const id of [1, 30, 33, 65_537, 2 ** 40 + 1, 2 ** 52]) assert.equal(set.has(id), false, String(id));
      assert.deepEqual(set.list(), ids);
      assert.deepEqual([set.list(ids.length), set.list(ids.length - 1)], [ids, undefined]);
      const mask = new Int32Array(3).fill(-1);
      set.mark(
        Float64Array.from({ length: 40 }, (_, place) => place),
        mask,
      );
      assert.deepEqual([...mask], [1 | (1 << 31), 1, -1]);
      set.mark(Float64Array.of(2 ** 52, 2 ** 40, 5, 65_535, 2 ** 52 + 1), mask);
      assert.equal(mask[0], 0b11010);
    }
  }
  assert.equal(createIdSet([]).has(0), false);
  assert.deepEqual(createIdSet([]).list(0), []);
});
