import { quantise } from './quantise.ts';

/** The collections of texts that are searched by meaning. The owner of a vector is an entry in `context`, and a passage in `kb`. */
export const vectorCorpora = ['context', 'kb'] as const;
export type VectorCorpus = (typeof vectorCorpora)[number];

export interface TextToEmbed {
  /** The entry or passage that the text belongs to. */
  readonly owner: number;
  readonly text: string;
  /** Hash of the text with its title and headings, if any. */
  readonly textHash: string;
  /** The text of the previous entry in the same thread. */
  readonly before?: string;
  /** Title and headings above a passage, outermost first. */
  readonly titlePath?: readonly string[];
}

/** The vector of one part of a text. `start` and `end` are offsets in UTF-16 code units. */
export interface WindowVector {
  readonly start: number;
  readonly end: number;
  readonly vector: Float32Array;
}

export interface PutVectors {
  readonly model: string;
  readonly texts: readonly {
    readonly owner: number;
    readonly textHash: string;
    readonly windows: readonly WindowVector[];
  }[];
}

export interface VectorState {
  /** False if the model was never chosen or was dropped. */
  readonly isChosen: boolean;
  /** The highest key of the model's vectors; 0 if it has none. */
  readonly lastKey: number;
  /** Number of the oldest removal still recorded. An index that has missed earlier removals must be reloaded. */
  readonly firstRemoval: number;
  readonly lastRemoval: number;
  /** Number of texts that still need vectors of this model. */
  readonly pending: number;
}

/** Many vectors in a few typed arrays. In-memory indexes are loaded from such blocks. */
export interface VectorBlock {
  readonly keys: Float64Array;
  readonly owners: Float64Array;
  readonly dimensions: number;
  /** The quantised vectors, concatenated (see quantise.ts). `scales` has the scale of each vector. */
  readonly codes: Int8Array;
  readonly scales: Float32Array;
}

export interface ScoreRequest {
  readonly query: Float32Array;
  readonly keys: readonly number[];
}

export interface ScoredVector extends Omit<WindowVector, 'vector'> {
  /** Row key, never reused. */
  readonly key: number;
  readonly owner: number;
  /** The dot product with the query. It is the cosine if both have unit length. */
  readonly score: number;
}

export interface NearestRequest<Filter> {
  readonly model: string;
  readonly query: Float32Array;
  readonly limit: number;
  readonly filter?: Filter | undefined;
  /** Owners to consider; all if undefined. */
  readonly allowed?: ArrayLike<number> | undefined;
}

/** Data that a vector search reads first, in one transaction. */
export interface VectorSnapshot {
  readonly state: VectorState;
  /**
   * The nearest vectors of the model, with exact scores, best first. They belong to at least `limit` owners, if there are that
   * many. Undefined if the database has no vector index.
   */
  readonly nearest: ScoredVector[] | undefined;
  /** The owners that match the filter, for scanning an in-memory index. Undefined without a filter. */
  readonly matching: readonly number[] | undefined;
}

export interface ModelState {
  readonly model: string;
  /** Undefined until the first vector is stored. */
  readonly dimensions: number | undefined;
  readonly vectors: number;
  readonly pending: number;
  /** The index that finds the nearest vectors: `memory` is in this process, `ready` is the database's, `none` is not built yet. */
  readonly index: 'memory' | 'none' | 'ready';
}

/** Packs vectors into a block. All must have the same length. */
export function blockOf(rows: readonly { key: number; owner: number; vector: Float32Array }[]): VectorBlock {
  const dimensions = rows[0]?.vector.length ?? 0;
  const codes = new Int8Array(rows.length * dimensions);
  const scales = new Float32Array(rows.length);
  rows.forEach(({ vector }, row) => {
    const quantised = quantise(vector);
    codes.set(quantised.codes, row * dimensions);
    scales[row] = quantised.scale;
  });
  return {
    keys: Float64Array.from(rows, ({ key }) => key),
    owners: Float64Array.from(rows, ({ owner }) => owner),
    dimensions,
    codes,
    scales,
  };
}
