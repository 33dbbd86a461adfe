import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroupRows } from './group-rows.ts';

test('knows the rows of each group, whichever of them are given up', () => {
  const groups = createGroupRows();
  for (const row of [0, 1, 2, 70_000, 70_001]) groups.add(row % 2, row);
  assert.deepEqual(groups.rowsOf(0).toSorted(), [0, 2, 70_000]);
  assert.deepEqual(groups.rowsOf(1).toSorted(), [1, 70_001]);
  groups.delete(0, 2);
  assert.deepEqual(groups.rowsOf(0).toSorted(), [0, 70_000]);
  groups.delete(0, 70_000);
  groups.delete(1, 1);
  assert.deepEqual([groups.rowsOf(0), groups.rowsOf(1), groups.rowsOf(2)], [[0], [70_001], []]);
  groups.delete(0, 0);
  groups.add(5, 0);
  assert.deepEqual([groups.rowsOf(0), groups.rowsOf(5)], [[], [0]]);
});
