/**
 * A set of ids that a vector scan queries for each row. It is a paged bitmap, because lookups in a `Set` of 100,000 ids would
 * take longer than the scan itself. The pages are in shared memory, so that other threads can use them.
 */
export interface IdSet {
  readonly pages: IdPages;
  has(id: number): boolean;
  /** Returns all ids, ascending. Undefined if there are more than `max`. */
  list(max?: number): number[] | undefined;
  /** Sets bit `n` of the mask if `ids[n]` is in the set, lowest bit first. */
  mark(ids: Float64Array, mask: Int32Array): void;
}

/** Bitmaps by page number. Page `n` covers the 65,536 ids from `n` × 65,536 on. */
export type IdPages = ReadonlyMap<number, Int32Array>;

const pageIds = 65_536;

/** Creates a set of ids, which must be integers from 0 on. It is fastest if they ascend. */
export function createIdSet(ids: Iterable<number> | ArrayLike<number>): IdSet {
  const pages = new Map<number, Int32Array>();
  let first = -1;
  let page: Int32Array = none;

  function add(id: number): void {
    if (first < 0 || id < first || id >= first + pageIds) {
      const number = Math.floor(id / pageIds);
      first = number * pageIds;
      page = pages.get(number) ?? new Int32Array(new SharedArrayBuffer(pageIds / 8));
      pages.set(number, page);
    }
    const at = id - first;
    page[at >>> 5] = (page[at >>> 5] ?? 0) | (1 << (at & 31));
  }

  if ('length' in ids) for (let place = 0; place < ids.length; place++) add(ids[place] ?? -1);
  else for (const id of ids) add(id);
  return idSetOf(pages);
}

export function idSetOf(pages: IdPages): IdSet {
  // The page of the last lookup: consecutive rows mostly have consecutive ids.
  let first = 0;
  let page = pages.get(0) ?? none;

  function selectPage(id: number): void {
    const number = Math.floor(id / pageIds);
    first = number * pageIds;
    page = pages.get(number) ?? none;
  }

  return {
    pages,
    has(id) {
      selectPage(id);
      const at = id - first;
      return ((page[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0;
    },
    list(max = Number.POSITIVE_INFINITY) {
      const ids: number[] = [];
      for (const number of [...pages.keys()].sort((a, b) => a - b)) {
        const words = pages.get(number) ?? none;
        for (let word = 0; word < words.length; word += 1) {
          for (let left = words[word] ?? 0; left !== 0; left &= left - 1) {
            if (ids.length >= max) return undefined;
            ids.push(number * pageIds + 32 * word + 31 - Math.clz32(left & -left));
          }
        }
      }
      return ids;
    },
    mark(ids, mask) {
      for (let start = 0; start < ids.length; start += 32) {
        let bits = 0;
        const end = Math.min(start + 32, ids.length);
        for (let place = start; place < end; place++) {
          const id = ids[place] ?? 0;
          if (id < first || id >= first + pageIds) selectPage(id);
          const at = id - first;
          bits |= (((page[at >>> 5] ?? 0) >>> (at & 31)) & 1) << (place & 31);
        }
        mask[start >>> 5] = bits;
      }
    },
  };
}

const none = new Int32Array(pageIds / 32);
