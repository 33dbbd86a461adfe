/** Deterministic random numbers: the same for the same seed, on every machine. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  below(limit: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32 on the seed and an index, so that each message of a run can be generated separately. */
export function createRandom(seed: number, series: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(series + 1, 0xc2b2ae35)) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
    pick: (items) => items[Math.floor(next() * items.length)] as never,
  };
}
