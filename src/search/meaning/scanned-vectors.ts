import type { VectorState } from '../../storage/vectors/vector.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import { createVectorIndex, type VectorCandidate, type VectorIndex } from '../scan/vector-index.ts';
import type { NearestVectors } from './nearest-vectors.ts';

export interface ScannedVectorsDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly model: string;
}

const loadSize = 2_000;

const vectorsMax = 4_000_000;

/** Min candidates to rescore exactly, because quantised scores may rank a top-ten vector lower. */
const rescoredMin = 50;

/** Vectors to examine per wanted owner: a long text has several, of which only the nearest counts. */
const vectorsPerOwner = 2;

/** Searches an in-memory copy of the stored vectors. Updates it before each search, because other processes may write too. */
export function createScannedVectors<Filter>({ vectors, model }: ScannedVectorsDeps<Filter>): NearestVectors {
  let index: VectorIndex | undefined;
  let lastKey = 0;
  let lastRemoval = 0;
  let updating: Promise<void> = Promise.resolve();

  return {
    async candidates(query, { limit, allowed, look, signal }) {
      // Updates run one at a time: each continues where the last one ended.
      updating = updating.catch(() => {}).then(() => update(query.length, look.state));
      await updating;
      signal.throwIfAborted();
      if (index === undefined || index.size === 0) return { keys: [] };
      return { keys: (await candidates(index, query, limit, allowed ?? look.passing)).map(({ id }) => id) };
    },
    keysOf: (owners) => index?.idsOf(owners) ?? [],
    async close() {
      await updating.catch(() => {});
      await index?.close();
    },
  };

  /** Finds enough vectors for `limit` owners, with a margin, because quantised scores are approximate. */
  async function candidates(
    known: VectorIndex,
    query: Float32Array,
    limit: number,
    owners: readonly number[] | undefined,
  ): Promise<VectorCandidate[]> {
    for (let wanted = Math.max(rescoredMin, limit * vectorsPerOwner); ; wanted *= 4) {
      const found = await known.candidates(query, { limit: wanted, groups: owners });
      if (found.length < wanted || new Set(found.map(({ group }) => group)).size >= limit) return found;
    }
  }

  async function update(dimensions: number, given: VectorState): Promise<void> {
    // Concurrent searches may pass an older state than the one last applied; it is read again.
    const state = given.lastRemoval < lastRemoval ? await vectors.state({ model }) : given;
    // The stored removals no longer reach back far enough, or the database was replaced.
    const isOutdated = lastRemoval + 1 < state.firstRemoval || state.lastRemoval < lastRemoval;
    if (index !== undefined && isOutdated) await forgetAll();
    if (index === undefined) {
      index = createVectorIndex({ dimensions, vectorsMax });
      lastRemoval = state.lastRemoval;
    }
    await learn(index, dimensions, state);
    await forgetRemoved(index, state);
  }

  async function learn(known: VectorIndex, dimensions: number, state: VectorState): Promise<void> {
    const read = (after: number) =>
      after < state.lastKey ? vectors.after({ model, after, limit: loadSize }) : Promise.resolve(undefined);
    for (let block = await read(lastKey); block !== undefined && block.keys.length > 0; ) {
      const { keys, owners, codes, scales } = block;
      const after = keys.at(-1) ?? 0;
      // Reads the next block while adding this one.
      const next = read(after);
      next.catch(() => {});
      if (block.dimensions === dimensions) known.add({ ids: keys, groups: owners, codes, scales });
      lastKey = after;
      block = await next;
    }
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
