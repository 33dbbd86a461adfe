/**
 * A set of ids that is asked about once for each row of an index: bits in pages, because a Set of a hundred thousand
 * takes longer to ask than the scan takes.
 */
export interface IdSet {
  has(id: number): boolean;
  /** Sets a bit in the mask for each place whose id is in the set: the first place has the lowest bit of the word. */
  mark(ids: Float64Array, places: number, mask: Int32Array, firstWord: number): void;
}

const pageIds = 65_536;

export function createIdSet(ids: Iterable<number> | ArrayLike<number>): IdSet {
  const pages = new Map<number, Int32Array>();
  let number = -1;
  let page: Int32Array | undefined;

  /** Rows that follow one another mostly have ids that do. */
  function turnTo(wanted: number): void {
    number = wanted;
    page = pages.get(wanted);
  }

  function add(id: number): void {
    const wanted = Math.floor(id / pageIds);
    if (wanted !== number) turnTo(wanted);
    if (page === undefined) {
      page = new Int32Array(pageIds / 32);
      pages.set(wanted, page);
    }
    const at = id % pageIds;
    page[at >>> 5] = (page[at >>> 5] ?? 0) | (1 << (at & 31));
  }

  if ('length' in ids) for (let place = 0; place < ids.length; place++) add(ids[place] ?? -1);
  else for (const id of ids) add(id);

  return {
    has(id) {
      const wanted = Math.floor(id / pageIds);
      if (wanted !== number) turnTo(wanted);
      const at = id % pageIds;
      return page !== undefined && ((page[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0;
    },
    mark(all, places, mask, firstWord) {
      for (let first = 0; first < places; first += 32) {
        let bits = 0;
        const end = Math.min(first + 32, places);
        for (let place = first; place < end; place++) {
          const id = all[place] ?? -1;
          const wanted = Math.floor(id / pageIds);
          if (wanted !== number) turnTo(wanted);
          if (page === undefined) continue;
          const at = id - wanted * pageIds;
          bits |= (((page[at >>> 5] ?? 0) >>> (at & 31)) & 1) << (place & 31);
        }
        mask[firstWord + (first >>> 5)] = bits;
      }
    },
  };
}
