import type { VectorState } from '../../storage/vectors/vector.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import { createVectorIndex, type VectorCandidate, type VectorIndex } from '../scan/vector-index.ts';
import type { NearestVectors } from './nearest-vectors.ts';

/** Max vectors per database read. */
const loadSize = 2_000;

const vectorsMax = 4_000_000;

/** Min candidates to rescore exactly, because quantised scores are approximate. */
const rescoredMin = 50;

/** Vectors to examine per requested owner, because only the nearest vector of an owner counts. */
const vectorsPerOwner = 2;

/** Searches an in-memory copy of the stored vectors. Updates it before each search, because other processes may write too. */
export function createScannedVectors<Filter>(vectors: VectorStore<Filter>, model: string): NearestVectors {
  let index: VectorIndex | undefined;
  let lastKey = 0;
  let lastRemoval = 0;
  let updating: Promise<void> = Promise.resolve();

  return {
    async candidates(query, { limit, allowed, snapshot, signal }) {
      // Updates run one at a time: each continues where the last one ended.
      updating = updating.catch(() => {}).then(() => update(query.length, snapshot.state));
      await updating;
      signal.throwIfAborted();
      if (index === undefined || index.size === 0) return { keys: [] };
      return { keys: (await nearestIn(index, query, limit, allowed ?? snapshot.matching)).map(({ id }) => id) };
    },
    keysOf: (owners) => index?.idsOf(owners) ?? [],
    async close() {
      await updating.catch(() => {});
      await index?.close();
    },
  };

  /** Finds enough vectors for `limit` owners, with a margin, because quantised scores are approximate. */
  async function nearestIn(
    vectorIndex: VectorIndex,
    query: Float32Array,
    limit: number,
    owners: readonly number[] | undefined,
  ): Promise<VectorCandidate[]> {
    for (let count = Math.max(rescoredMin, limit * vectorsPerOwner); ; count *= 4) {
      const found = await vectorIndex.candidates(query, { limit: count, groups: owners });
      if (found.length < count || new Set(found.map(({ group }) => group)).size >= limit) return found;
    }
  }

  async function update(dimensions: number, snapshotState: VectorState): Promise<void> {
    // A concurrent search may have applied a newer state than this one; then the state is read again.
    const state = snapshotState.lastRemoval < lastRemoval ? await vectors.state({ model }) : snapshotState;
    // Outdated if removals that this copy has not seen were already pruned, or if the database was replaced.
    const isOutdated = lastRemoval + 1 < state.firstRemoval || state.lastRemoval < lastRemoval;
    if (index !== undefined && isOutdated) await discardIndex();
    if (index === undefined) {
      index = createVectorIndex({ dimensions, vectorsMax });
      lastRemoval = state.lastRemoval;
    }
    await addNew(index, dimensions, state);
    await applyRemovals(index, state);
  }

  async function addNew(vectorIndex: VectorIndex, dimensions: number, state: VectorState): Promise<void> {
    const read = (after: number) =>
      after < state.lastKey ? vectors.after({ model, after, limit: loadSize }) : Promise.resolve(undefined);
    for (let block = await read(lastKey); block !== undefined && block.keys.length > 0; ) {
      const { keys, owners, codes, scales } = block;
      const after = keys.at(-1) ?? 0;
      // Reads the next block while adding this one.
      const next = read(after);
      next.catch(() => {});
      if (block.dimensions === dimensions) vectorIndex.add({ ids: keys, groups: owners, codes, scales });
      lastKey = after;
      block = await next;
    }
  }

  async function applyRemovals(vectorIndex: VectorIndex, state: VectorState): Promise<void> {
    while (lastRemoval < state.lastRemoval) {
      const removed = await vectors.removedAfter({ after: lastRemoval, limit: loadSize });
      if (removed.length === 0) break;
      for (const { number, key } of removed) {
        lastRemoval = number;
        vectorIndex.delete(key);
      }
    }
  }

  async function discardIndex(): Promise<void> {
    const old = index;
    index = undefined;
    lastKey = 0;
    await old?.close();
  }
}
