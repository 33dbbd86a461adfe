import type { Call } from './call.ts';
import type { Origin } from './origin.ts';

export interface SourceHit {
  uri: string;
  /** Of the whole text, as `verify` compares it; null where the source does not read it. */
  hash: string | null;
  /** Where the snippet stands, in UTF-16 units of the whole text, or of the chunk where there is one; null as the hash. */
  range: readonly [start: number, end: number] | null;
  /** Of documents in chunks. */
  chunk_index?: number;
  /** Where in the whole text the snippet is, for readers: a page, a heading. */
  place?: string | undefined;
  title: string;
  snippet: string;
  /** ISO-8601, or null where the source has no date. */
  date: string | null;
  origin: Origin;
  /** The chance that it answers the question, 0 to 1. Undefined if the source can't tell; title and snippet are then judged. */
  relevance?: number | undefined;
  /** URIs: of the older hit that it replaces, and of the newer one that replaces it. */
  replaces?: string | undefined;
  replaced_by?: string | undefined;
  /** Which words matched, in which passage. */
  why: string;
  /** What speaks for it, each 0 to 1. */
  scores?: { readonly words?: number; readonly meaning?: number; readonly reranker?: number };
}

export interface SourceAnswer {
  hits: SourceHit[];
  /** Hits that were left out because they hardly fit. */
  omitted?: number;
  reranking?: { readonly state: 'applied' | 'off' | 'failed'; readonly reason?: string } | undefined;
  /** Why the answer is worth less than usual (for example words without meaning), in our own words. */
  degraded?: string;
}

export interface SourceQuestion {
  readonly query: string;
  readonly limit: number;
  /** Asks for hits that hardly fit, too. */
  readonly includesWeak: boolean;
}

/** A corpus that `find` can ask. A source throws when it fails: empty must never mean broken. */
export interface SearchSource {
  name: string;
  description: string;
  /** Whether it is asked when the caller names no sources. The web is not. */
  askedByDefault: boolean;
  search(question: SourceQuestion, call: Call): Promise<SourceAnswer>;
}
