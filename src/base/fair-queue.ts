/** A queue that serves callers round-robin, no matter how many items each has. Each caller's items keep their order. */
export class FairQueue<Item> {
  /** Waiting items by caller, in the order in which the callers are served. */
  readonly #lanes = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(caller: string, item: Item): void {
    const lane = this.#lanes.get(caller) ?? new Set();
    lane.add(item);
    this.#lanes.set(caller, lane);
    this.#size += 1;
  }

  delete(caller: string, item: Item): boolean {
    const lane = this.#lanes.get(caller);
    if (lane === undefined || !lane.delete(item)) return false;
    if (lane.size === 0) this.#lanes.delete(caller);
    this.#size -= 1;
    return true;
  }

  /** Removes and returns the first item of the next caller for which `accepts` is true. */
  take(accepts: (caller: string) => boolean = () => true): { caller: string; item: Item } | undefined {
    for (const [caller, lane] of this.#lanes) {
      const [item] = lane;
      if (item === undefined || !accepts(caller)) continue;
      this.delete(caller, item);
      // Setting it again moves the caller to the end.
      if (this.#lanes.delete(caller)) this.#lanes.set(caller, lane);
      return { caller, item };
    }
    return undefined;
  }

  /** Removes and returns the last item of the longest lane, if it has at least two items more than `caller`'s lane. */
  takeFromLongest(caller: string): Item | undefined {
    const callerSize = this.#lanes.get(caller)?.size ?? 0;
    let longest: [string, Set<Item>] | undefined;
    for (const lane of this.#lanes) if (lane[1].size > (longest?.[1].size ?? callerSize + 1)) longest = lane;
    const item = longest && [...longest[1]].at(-1);
    if (longest === undefined || item === undefined) return undefined;
    this.delete(longest[0], item);
    return item;
  }
}
