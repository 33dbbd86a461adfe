import type { Call } from './call.ts';
import type { Origin } from './origin.ts';

export interface SourceHit {
  uri: string;
  /** Hash of the whole text, as used by `verify`; null if the source can't read it. */
  hash: string | null;
  /** The snippet's position in the whole text or in its chunk, in UTF-16 units. Null if the source can't read the text. */
  range: readonly [start: number, end: number] | null;
  /** For documents stored in chunks. */
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
  /** URIs of the older hit that it replaces, and of the newer hit that replaces it. */
  replaces?: string | undefined;
  replaced_by?: string | undefined;
  /** The matched words and their passage. */
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
  /** Number of low-relevance hits left out. */
  omitted?: number;
  reranking?: { readonly state: 'applied' | 'off' | 'failed'; readonly reason?: string } | undefined;
  /** Why the answer is degraded, for example keyword search only. */
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
  readonly isQuick?: boolean | undefined;
}

export interface SourceFilters {
  readonly collection?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
}

/** A corpus that `find` can search. Failures throw: an empty result must never mean broken. */
export interface SearchSource {
  name: string;
  description: string;
  /** Whether to search it if the caller names no sources. False for the web. */
  askedByDefault: boolean;
  /** The filters that this source supports. A search with any other filter skips the source. */
  filters?: readonly (keyof SourceFilters)[];
  /** Supports `isQuick`. */
  canBeQuick?: boolean;
  search(question: SourceQuestion, call: Call): Promise<SourceAnswer>;
}
