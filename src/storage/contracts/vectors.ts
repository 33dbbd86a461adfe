import { CarrelError } from '../../base/errors.ts';
import type { IdPages } from '../id-set.ts';
import { dotProduct, quantise } from '../quantise.ts';
import type { ReadOptions } from './read-options.ts';

/** What is searched by meaning. The owner of a vector is an entry in `context`, and a passage, by its key, in `kb`. */
export const vectorCorpora = ['context', 'kb'] as const;
export type VectorCorpus = (typeof vectorCorpora)[number];

/**
 * The vectors of one corpus, and the list of texts that still wait for theirs. The database keeps that list itself, for
 * each model that was chosen: a text that is new or has changed is put on it in the transaction that writes the text, and
 * loses its old vectors in the same. Vectors of several models coexist and are never compared.
 */
export interface VectorStore<Filter> {
  /** From now on every text gets vectors of this model. Of several chosen ones, the last is the newest. */
  choose(model: string): Promise<void>;
  /** The newest texts without vectors of this model, in the order of their keys. None for a model that was not chosen, or was dropped. */
  waiting(request: WaitingRequest): Promise<TextToEmbed[]>;
  /**
   * Takes the newest of these texts that nobody works on, so that no other process embeds them as well. A claim ends with
   * its time, when the text gets its vectors, and when it is changed. Writes nothing where there is nothing to take.
   */
  claim(request: ClaimTextsRequest): Promise<ClaimedTexts>;
  /** Prolongs claims. Those that have run out since, and were taken by others, are theirs. */
  renew(request: RenewClaimsRequest): Promise<void>;
  /** Frees what these have claimed. */
  release(request: ReleaseClaimsRequest): Promise<void>;
  /** The owners of all such texts, ascending. */
  unembedded(request: { readonly model: string }, options?: ReadOptions): Promise<number[]>;
  /** Left out for a text that has changed or gone since, or that has no place on the list. The number of texts taken. */
  put(request: PutVectors): Promise<number>;
  state(request: { readonly model: string }, options?: ReadOptions): Promise<VectorState>;
  /** Stored vectors behind a key, ascending: what an index that knows all up to there still has to learn. */
  after(request: VectorsAfter, options?: ReadOptions): Promise<VectorBlock>;
  /**
   * Stores vectors in blocks, too, from which they are loaded many times as fast. Nothing where the database searches. Ends
   * after the block at hand when it is given up; what is packed by then stays.
   */
  pack(model: string, options?: ReadOptions): Promise<void>;
  /** Keys of vectors that were removed, behind the number of a removal, in their order. */
  removedAfter(request: RemovedAfter, options?: ReadOptions): Promise<RemovedVector[]>;
  /** The exact scores of vectors that an index found, for those that are still stored. In no order. */
  score(request: ScoreRequest, options?: ReadOptions): Promise<ScoredVector[]>;
  /**
   * The nearest vectors of a model, with exact scores, best first: of at least `limit` owners, if there are so many. Where
   * the database has no index for it, this is undefined, and the search keeps a copy of the vectors in memory.
   */
  readonly nearest: ((request: NearestRequest<Filter>, options?: ReadOptions) => Promise<ScoredVector[]>) | undefined;
  /** The owners that the filter lets through. */
  matching(filter: Filter, options?: ReadOptions): Promise<IdPages>;
  /** The models that were chosen and not dropped, the newest last. Counts them, so not for every search. */
  models(options?: ReadOptions): Promise<ModelState[]>;
  /**
   * Forgets a model, then its vectors, in several steps. Resolves when all are gone. Without a name it only ends what a
   * process that was stopped has begun.
   */
  drop(model?: string): Promise<void>;
}

export interface WaitingRequest {
  readonly model: string;
  readonly limit: number;
  /** Only the texts of these. */
  readonly owners?: readonly number[] | undefined;
  /** Only those that this one has claimed. */
  readonly claimant?: string | undefined;
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
  /** The owners of what was taken, and of what the claimant has had before, the newest first. */
  readonly owners: number[];
  /** The newest that wait and are not the claimant's. Looked at only where fewer than the limit could be taken. */
  readonly others: OtherClaim[];
}

export interface OtherClaim {
  readonly owner: number;
  /** Undefined for a text that is being written, or claimed, at this moment. */
  readonly claimant: string | undefined;
}

export interface RenewClaimsRequest {
  readonly model: string;
  readonly claimant: string;
  readonly leaseMs: number;
  readonly owners: readonly number[];
}

export interface ReleaseClaimsRequest {
  readonly model: string;
  readonly claimants: readonly string[];
}

export interface TextToEmbed {
  readonly owner: number;
  readonly text: string;
  /** Of the text and what stands above it. */
  readonly textHash: string;
  /** The text before it in its thread. */
  readonly before?: string;
  /** Title and headings above a passage, outermost first. */
  readonly titlePath?: readonly string[];
}

/** The vector of one part of a text; the offsets are those of the text, in UTF-16 units. */
export interface WindowVector {
  readonly start: number;
  readonly end: number;
  readonly vector: Float32Array;
}

/** What a text is stored with when it was embedded before. */
export interface TextVectors {
  readonly model: string;
  /** Empty for a text that the model cannot embed. */
  readonly windows: readonly WindowVector[];
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
  /** The greatest key; 0 where there is none. */
  readonly lastKey: number;
  /** The numbers of the removals that are still known; an index that is behind `firstRemoval` has to start over. */
  readonly firstRemoval: number;
  readonly lastRemoval: number;
  /** Texts that wait for vectors of this model. */
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
  /** The vectors as bytes, one behind the other, and the scale of each (quantise.ts). */
  readonly codes: Int8Array;
  readonly scales: Float32Array;
  /** It was stored like this; else it was made of single vectors. */
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
  /** Of the row. Never given again. */
  readonly key: number;
  readonly owner: number;
}

export interface ScoreRequest {
  readonly query: Float32Array;
  readonly keys: readonly number[];
}

export interface ScoredVector extends Omit<StoredVector, 'vector'> {
  /** The dot product with the query: the cosine, where both have unit length. */
  readonly score: number;
}

export interface NearestRequest<Filter> {
  readonly model: string;
  readonly query: Float32Array;
  readonly limit: number;
  readonly filter?: Filter | undefined;
  /** Owners that may be found; all, if undefined. */
  readonly allowed?: ArrayLike<number> | undefined;
}

export interface ModelState {
  readonly model: string;
  /** Undefined until the first vector. */
  readonly dimensions: number | undefined;
  readonly vectors: number;
  readonly pending: number;
  /** What finds the nearest: an image in memory, or the database's index, which may not have been made yet. */
  readonly index: 'memory' | 'none' | 'ready';
}

/** How many removals are remembered. An index that has missed more is reloaded, which is as fast by then. */
export const removalsKept = 100_000;

/** Vectors that one step of `drop` deletes, so that other writes need not wait for all of them. */
export const droppedAtOnce = 2_000;

/** A server that changes its model without changing its name must not spoil what is stored. */
export function dimensionsError(model: string, stored: number, given: number): CarrelError {
  const message =
    `The embedding model ${model} returns vectors of ${given} dimensions, but those stored under this name have ${stored}. ` +
    'Check which model the server runs, or set EMBEDDING_MODEL to another name.';
  return new CarrelError('unavailable', message, { data: { stored, given } });
}

/** What `score` gives for a vector. One of another length is near nothing. */
export function scored(query: Float32Array, { vector, ...stored }: StoredVector): ScoredVector {
  return { ...stored, score: dotProduct(query, vector) };
}

/** The parts of a block that are to be stored or sent. The vectors have the same length. */
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
