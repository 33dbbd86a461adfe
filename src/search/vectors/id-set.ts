/**
 * A set of ids that is asked about once for each row of an index: bits in pages, because a Set of a hundred thousand
 * takes longer to ask than the scan takes.
 */
export interface IdSet {
  has(id: number): boolean;
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
  };
}
