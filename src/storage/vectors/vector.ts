import { CarrelError } from '../../base/errors.ts';
import type { IdPages } from '../id-set.ts';
import { dotProduct, quantise } from './quantise.ts';

/** The texts that are searched by meaning. The owner of a vector is an entry in `context`, and a passage key in `kb`. */
export const vectorCorpora = ['context', 'kb'] as const;
export type VectorCorpus = (typeof vectorCorpora)[number];

export interface WaitingRequest {
  readonly model: string;
  readonly limit: number;
  /** Only the texts of these. */
  readonly owners?: readonly number[] | undefined;
}

export interface ClaimTextsRequest {
  readonly model: string;
  readonly claimant: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** Only the texts of these. */
  readonly owners?: readonly number[] | undefined;
}

export interface ClaimedTexts {
  /** In key order. */
  readonly texts: TextToEmbed[];
  /** Owners of the newest texts claimed by others; only if fewer than the limit were free. */
  readonly elsewhere: number[];
}

export interface ReleaseClaimsRequest {
  readonly model: string;
  readonly claimant: string;
}

export interface TextToEmbed {
  readonly owner: number;
  readonly text: string;
  /** Hash of the text and its headings. */
  readonly textHash: string;
  /** The previous text in its thread. */
  readonly before?: string;
  /** Title and headings above a passage, outermost first. */
  readonly titlePath?: readonly string[];
}

/** The vector of one part of a text; offsets in UTF-16 units of the text. */
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
  /** False for a model that was not chosen, or was dropped. */
  readonly chosen: boolean;
  /** The highest key; 0 if there is none. */
  readonly lastKey: number;
  /** Range of removals still recorded; an index that lags behind `firstRemoval` must start over. */
  readonly firstRemoval: number;
  readonly lastRemoval: number;
  /** Texts that need vectors of this model. */
  readonly pending: number;
}

export interface VectorsAfter {
  readonly model: string;
  readonly after: number;
  readonly limit: number;
}

/** Many vectors at once, in as few objects as possible: an index is loaded from such blocks. */
export interface VectorBlock {
  readonly keys: Float64Array;
  readonly owners: Float64Array;
  readonly dimensions: number;
  /** The vectors as concatenated bytes, and each vector's scale (quantise.ts). */
  readonly codes: Int8Array;
  readonly scales: Float32Array;
  /** Stored as a block; otherwise assembled from single vectors. */
  readonly packed: boolean;
}

export interface RemovedAfter {
  readonly after: number;
  readonly limit: number;
}

export interface RemovedVector {
  readonly number: number;
  readonly key: number;
}

export interface StoredVector extends WindowVector {
  /** Row key, never reused. */
  readonly key: number;
  readonly owner: number;
}

export interface ScoreRequest {
  readonly query: Float32Array;
  readonly keys: readonly number[];
}

export interface ScoredVector extends Omit<StoredVector, 'vector'> {
  /** The dot product with the query: the cosine, if both have unit length. */
  readonly score: number;
}

export interface NearestRequest<Filter> {
  readonly model: string;
  readonly query: Float32Array;
  readonly limit: number;
  readonly filter?: Filter | undefined;
  /** Permitted owners; all, if undefined. */
  readonly allowed?: ArrayLike<number> | undefined;
}

/** Read from one state of the data. */
export interface VectorLook {
  readonly state: VectorState;
  /**
   * The nearest vectors of the model, with exact scores, best first: of at least `limit` owners, if there are that many.
   * Undefined if the database has no index.
   */
  readonly nearest: ScoredVector[] | undefined;
  /** The owners that pass the filter, if the search scans an in-memory index. Undefined without a filter. */
  readonly passing: IdPages | undefined;
}

export interface ModelState {
  readonly model: string;
  /** Undefined until the first vector. */
  readonly dimensions: number | undefined;
  readonly vectors: number;
  readonly pending: number;
  /** What finds the nearest: an in-memory index, or the database's own, which may not be built yet. */
  readonly index: 'memory' | 'none' | 'ready';
}

/** Max removals recorded. An index that missed more is reloaded, which is as fast by then. */
export const removalsKept = 100_000;

/** Vectors deleted per step of `drop`, so that other writes need not wait for all of them. */
export const droppedAtOnce = 2_000;

/** A server that changes its model under the same name must not corrupt stored vectors. */
export function dimensionsError(model: string, stored: number, given: number): CarrelError {
  const message =
    `The embedding model ${model} returns vectors of ${given} dimensions, but the stored ones have ${stored}. ` +
    'Check which model the server runs, or set EMBEDDING_MODEL to another name.';
  return new CarrelError('unavailable', message, { data: { stored, given } });
}

/** A stored vector with its score for the query. */
export function scored(query: Float32Array, { vector, ...stored }: StoredVector): ScoredVector {
  return { ...stored, score: dotProduct(query, vector) };
}

/** Packs vectors into a block to store or send. All vectors have the same length. */
export function blockOf(rows: readonly { key: number; owner: number; vector: Float32Array }[]): VectorBlock {
  const dimensions = rows[0]?.vector.length ?? 0;
  const codes = new Int8Array(rows.length * dimensions);
  const scales = new Float32Array(rows.length);
  rows.forEach(({ vector }, place) => {
    const quantised = quantise(vector);
    codes.set(quantised.codes, place * dimensions);
    scales[place] = quantised.scale;
  });
  return {
    keys: Float64Array.from(rows, ({ key }) => key),
    owners: Float64Array.from(rows, ({ owner }) => owner),
    dimensions,
    codes,
    scales,
    packed: false,
  };
}
