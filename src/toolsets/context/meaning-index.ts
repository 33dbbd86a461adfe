import { createVectorIndex, type VectorIndex } from '../../search/vectors/vector-index.ts';
import type { EntryStore } from '../../storage/entries.ts';

export interface MeaningMatch {
  readonly id: number;
  /** Between vectors of unit length: 0 for the same direction, 2 for the opposite. */
  readonly distance: number;
  readonly cosine: number;
  /** The part of the text that is nearest, in UTF-16 units. */
  readonly window: { readonly start: number; readonly end: number };
}

export interface MeaningIndex {
  search(
    query: Float32Array,
    options: { limit: number; allowed: ReadonlySet<number> | undefined; signal: AbortSignal },
  ): Promise<MeaningMatch[]>;
  close(): Promise<void>;
}

const loadSize = 2_000;
const vectorsMax = 4_000_000;

/** An entry has several vectors when it is long, and only the nearest counts: so more are asked for than entries. */
const vectorsPerEntry = 4;

/** An image in memory of the stored vectors, which other processes may add to: brought up to date before each search. */
export function createMeaningIndex({ entries, model }: { entries: EntryStore; model: string }): MeaningIndex {
  let index: VectorIndex | undefined;
  let lastKey = 0;
  let updating: Promise<void> = Promise.resolve();
  const windows = new Map<number, { start: number; end: number; entryId: number }>();

  return {
    async search(query, { limit, allowed, signal }) {
      // One after the other, because each goes on where the last one ended.
      updating = updating.catch(() => {}).then(() => update(query.length));
      await updating;
      signal.throwIfAborted();
      if (index === undefined || index.size === 0) return [];
      const found = await index.search(query, {
        limit: limit * vectorsPerEntry,
        ...(allowed === undefined ? {} : { filter: { groups: allowed } }),
      });
      const best = new Map<number, MeaningMatch>();
      for (const { id: key, score } of found) {
        const window = windows.get(key);
        if (window === undefined || best.has(window.entryId)) continue;
        best.set(window.entryId, {
          id: window.entryId,
          cosine: score,
          distance: Math.sqrt(Math.max(0, 2 - 2 * score)),
          window: { start: window.start, end: window.end },
        });
      }
      return [...best.values()].slice(0, limit);
    },
    async close() {
      await updating.catch(() => {});
      await index?.close();
    },
  };

  async function update(dimensions: number): Promise<void> {
    const state = await entries.vectorState({ model });
    index ??= createVectorIndex({ dimensions, threads: 1, vectorsMax }, { readVectors });
    while (lastKey < state.lastKey) {
      const vectors = await entries.vectorsAfter({ model, after: lastKey, limit: loadSize });
      if (vectors.length === 0) break;
      for (const { key, entryId, start, end, vector } of vectors) {
        lastKey = key;
        if (vector.length !== dimensions) continue;
        index.set(key, vector, entryId);
        windows.set(key, { start, end, entryId });
      }
    }
    if (windows.size !== state.count) await forgetRemoved(index);
  }

  async function forgetRemoved(known: VectorIndex): Promise<void> {
    const stored = new Set(await entries.vectorKeys({ model }));
    for (const key of windows.keys()) {
      if (stored.has(key)) continue;
      known.delete(key);
      windows.delete(key);
    }
  }

  async function readVectors(keys: readonly number[]): Promise<Map<number, Float32Array>> {
    const stored = await entries.vectors({ keys });
    return new Map(stored.map(({ key, vector }) => [key, vector]));
  }
}
