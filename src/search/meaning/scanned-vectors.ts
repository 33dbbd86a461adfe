import { availableParallelism } from 'node:os';
import type { VectorState, VectorStore } from '../../storage/vectors.ts';
import { createVectorIndex, type VectorCandidate, type VectorIndex } from '../vectors/vector-index.ts';
import { type AllowedOwners, bestOfOwners, type NearestVectors } from './nearest-vectors.ts';

export interface ScannedVectorsDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly model: string;
}

const loadSize = 2_000;

/** So many that had to be read one by one are worth being packed for the next process. */
const packedMin = 4_000;

const vectorsMax = 4_000_000;

/** For the scan. The first 65,536 vectors are one thread's; a second one is started for those behind them. */
const threads = Math.min(4, availableParallelism());

/** Candidates that are scored exactly, at least: bytes alone may misplace the tenth. */
const rescoredMin = 50;

/** Vectors that are looked at for each owner that is wanted. A long text has several, and only the nearest counts. */
const vectorsPerOwner = 2;

/** An image in memory of the stored vectors, which other processes may add to: brought up to date before each search. */
export function createScannedVectors<Filter>({ vectors, model }: ScannedVectorsDeps<Filter>): NearestVectors<Filter> {
  let index: VectorIndex | undefined;
  let lastKey = 0;
  let lastRemoval = 0;
  let updating: Promise<void> = Promise.resolve();
  let packing: Promise<unknown> = Promise.resolve();

  return {
    async search(query, { limit, filter, allowed, signal }) {
      // One after the other, because each goes on where the last one ended.
      updating = updating.catch(() => {}).then(() => update(query.length));
      const [owners] = await Promise.all([
        allowed ?? (filter === undefined ? undefined : vectors.matching(filter, { signal })),
        updating,
      ]);
      signal.throwIfAborted();
      if (index === undefined || index.size === 0) return [];
      const found = await candidates(index, query, limit, owners);
      return bestOfOwners(await vectors.score({ query, keys: found.map(({ id }) => id) }, { signal }), limit);
    },
    async close() {
      await Promise.all([updating.catch(() => {}), packing]);
      await index?.close();
    },
  };

  /** As many vectors as it takes to have that many owners, and some more, whose order is not certain yet. */
  async function candidates(
    known: VectorIndex,
    query: Float32Array,
    limit: number,
    owners: AllowedOwners | undefined,
  ): Promise<VectorCandidate[]> {
    const filter = owners === undefined ? {} : { filter: { groups: owners } };
    for (let wanted = Math.max(rescoredMin, limit * vectorsPerOwner); ; wanted *= 4) {
      const found = await known.candidates(query, { limit: wanted, ...filter });
      if (found.length < wanted || new Set(found.map(({ group }) => group)).size >= limit) return found;
    }
  }

  async function update(dimensions: number): Promise<void> {
    const state = await vectors.state({ model });
    // Too much was removed since, or another database was put in the place of this one.
    const isLost = lastRemoval + 1 < state.firstRemoval || state.lastRemoval < lastRemoval;
    if (index !== undefined && isLost) await forgetAll();
    if (index === undefined) {
      index = createVectorIndex({ dimensions, threads, vectorsMax }, { readVectors: async () => new Map() });
      lastRemoval = state.lastRemoval;
    }
    await learn(index, dimensions, state);
    await forgetRemoved(index, state);
  }

  async function learn(known: VectorIndex, dimensions: number, state: VectorState): Promise<void> {
    let single = 0;
    while (lastKey < state.lastKey) {
      const block = await vectors.after({ model, after: lastKey, limit: loadSize });
      if (block.keys.length === 0) break;
      block.keys.forEach((key, place) => {
        lastKey = key;
        if (block.dimensions !== dimensions) return;
        const codes = block.codes.subarray(place * dimensions, (place + 1) * dimensions);
        known.setQuantised(key, { codes, scale: block.scales[place] ?? 0 }, block.owners[place] ?? 0);
      });
      if (!block.packed) single += block.keys.length;
    }
    if (single >= packedMin) packing = Promise.all([packing, vectors.pack(model)]).catch(() => {});
  }

  async function forgetRemoved(known: VectorIndex, state: VectorState): Promise<void> {
    while (lastRemoval < state.lastRemoval) {
      const removed = await vectors.removedAfter({ after: lastRemoval, limit: loadSize });
      if (removed.length === 0) break;
      for (const { number, key } of removed) {
        lastRemoval = number;
        known.delete(key);
      }
    }
  }

  async function forgetAll(): Promise<void> {
    const old = index;
    index = undefined;
    lastKey = 0;
    await old?.close();
  }
}
