import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowMap } from './row-map.ts';

test('keeps rows by id, dense or far apart', () => {
  const map = createRowMap();
  const ids = [0, 1, 65_535, 65_536, 4_294_967_296, Number.MAX_SAFE_INTEGER];
  for (const [row, id] of ids.entries()) map.set(id, row);
  assert.deepEqual(
    ids.map((id) => map.get(id)),
    [0, 1, 2, 3, 4, 5],
  );
  assert.equal(map.get(2), undefined);
  assert.equal(map.get(-1), undefined);
  assert.equal(map.get(131_072), undefined);
  map.set(1, 9);
  map.delete(65_536);
  map.delete(7);
  assert.deepEqual([map.get(1), map.get(65_536), map.size], [9, undefined, 5]);
});
