import { segmentRows } from './segment-layout.ts';

/** A whole number for each row; 0 where none was set. Pages, so that growing copies nothing. */
export interface RowNumbers {
  get(row: number): number;
  set(row: number, value: number): void;
}

export function createRowNumbers<List extends Int32Array | Float64Array>(
  List: new (length: number) => List,
): RowNumbers {
  const pages: List[] = [];
  return {
    get: (row) => pages[Math.floor(row / segmentRows)]?.[row % segmentRows] ?? 0,
    set(row, value) {
      const number = Math.floor(row / segmentRows);
      let page = pages[number];
      if (page === undefined) {
        page = new List(segmentRows);
        pages[number] = page;
      }
      page[row % segmentRows] = value;
    },
  };
}
