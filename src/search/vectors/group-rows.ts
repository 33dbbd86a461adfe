import { createRowMap } from './row-map.ts';
import { createRowNumbers } from './row-numbers.ts';

/** The rows of each group: a map to the first, and from each row to the next. 8 bytes for a row. */
export interface GroupRows {
  add(group: number, row: number): void;
  delete(group: number, row: number): void;
  rowsOf(group: number): number[];
}

export function createGroupRows(): GroupRows {
  const first = createRowMap();
  /** Plus one: 0 is no row. */
  const next = createRowNumbers(Int32Array);

  function* walk(group: number): Generator<number> {
    for (let row = first.get(group) ?? -1; row >= 0; row = next.get(row) - 1) yield row;
  }

  return {
    add(group, row) {
      next.set(row, (first.get(group) ?? -1) + 1);
      first.set(group, row);
    },
    delete(group, row) {
      let before = -1;
      for (const each of walk(group)) {
        if (each === row) break;
        before = each;
      }
      const after = next.get(row);
      if (before >= 0) next.set(before, after);
      else if (after > 0) first.set(group, after - 1);
      else first.delete(group);
    },
    rowsOf: (group) => [...walk(group)],
  };
}
