/** A queue that serves callers round-robin, no matter how many items each has. Each caller's items keep their order. */
export class FairQueue<Item> {
  /** Waiting items by caller, in the order in which the callers are served. */
  readonly #queues = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(caller: string, item: Item): void {
    const queue = this.#queues.get(caller) ?? new Set();
    queue.add(item);
    this.#queues.set(caller, queue);
    this.#size += 1;
  }

  delete(caller: string, item: Item): boolean {
    const queue = this.#queues.get(caller);
    if (queue === undefined || !queue.delete(item)) return false;
    if (queue.size === 0) this.#queues.delete(caller);
    this.#size -= 1;
    return true;
  }

  /** Removes and returns the first item of the next caller for which `accepts` is true. */
  take(accepts: (caller: string) => boolean = () => true): { caller: string; item: Item } | undefined {
    for (const [caller, queue] of this.#queues) {
      const [item] = queue;
      if (item === undefined || !accepts(caller)) continue;
      this.delete(caller, item);
      // Setting it again moves the caller to the end.
      if (this.#queues.delete(caller)) this.#queues.set(caller, queue);
      return { caller, item };
    }
    return undefined;
  }

  /** Removes and returns the last item of the longest queue, if it has at least two items more than `caller`'s queue. */
  takeFromLongest(caller: string): Item | undefined {
    const callerSize = this.#queues.get(caller)?.size ?? 0;
    let longest: [string, Set<Item>] | undefined;
    for (const queue of this.#queues) if (queue[1].size > (longest?.[1].size ?? callerSize + 1)) longest = queue;
    const item = longest && [...longest[1]].at(-1);
    if (longest === undefined || item === undefined) return undefined;
    this.delete(longest[0], item);
    return item;
  }
}
