import type { Call } from './call.ts';
import type { Origin } from './origin.ts';

export interface SourceHit {
  uri: string;
  /** Hash of the whole text, as used by `verify`. Null if the source can't read the whole text. */
  hash: string | null;
  /**
   * The snippet's position in the whole text or in its chunk, in UTF-16 units. Null if the source can't read the
   * whole text.
   */
  range: readonly [start: number, end: number] | null;
  /** Index of the chunk, for documents stored in chunks. */
  chunk_index?: number;
  /** Human-readable location: a page, a heading. */
  place?: string | undefined;
  title: string;
  snippet: string;
  /** ISO-8601, or null if unknown. */
  date: string | null;
  /** Values to filter by, if the source has them. */
  collection?: string | undefined;
  type?: string | undefined;
  tags?: readonly string[] | undefined;
  origin: Origin;
  /** Probability that the hit answers the question, 0 to 1. If undefined, the reranker scores title and snippet. */
  relevance?: number | undefined;
  /** URIs of the older hit that this one replaces, and of the newer hit that replaces this one. */
  replaces?: string | undefined;
  replaced_by?: string | undefined;
  /** Why it was found: the matched words and their passage. */
  why: string;
  /** The evidence for its relevance; see `EvidenceShares`. */
  scores?: {
    readonly words?: number;
    readonly meaning?: number;
    readonly reranker?: number;
    readonly logit?: number;
    readonly lead?: number;
  };
}

export interface SourceAnswer {
  hits: SourceHit[];
  /** Number of omitted low-relevance hits. */
  omitted?: number;
  reranking?: { readonly state: 'applied' | 'off' | 'failed'; readonly reason?: string } | undefined;
  /** Why the answer is degraded. For example, only keyword search worked. */
  degraded?: string;
}

export interface SourceQuestion {
  readonly query: string;
  readonly limit: number;
  /** Include low-relevance hits. */
  readonly includesWeak: boolean;
  /** All must match. */
  readonly filters?: SourceFilters | undefined;
  /** Keyword search only, without models. */
  readonly wordsOnly?: boolean | undefined;
}

interface SourceFilters {
  readonly collection?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
}

/**
 * A corpus that `find` can search. A failed search throws, because an empty result must mean that nothing was found.
 */
export interface SearchSource {
  name: string;
  description: string;
  /** True if the source is searched when the caller names none. False for the web. */
  searchedByDefault: boolean;
  /** The filters that this source supports. A search with any other filter skips the source. */
  filters?: readonly (keyof SourceFilters)[];
  /** True if the source supports `wordsOnly`. */
  supportsWordsOnly?: boolean;
  search(question: SourceQuestion, call: Call): Promise<SourceAnswer>;
}
