import type { Call } from './call.ts';
import type { Origin } from './origin.ts';

export interface SourceHit {
  uri: string;
  title: string;
  snippet: string;
  /** ISO-8601, or null where the source has no date. */
  date: string | null;
  origin: Origin;
  /** The source's own score: comparable within the source only. */
  score: number;
  why: string;
}

export interface SourceAnswer {
  hits: SourceHit[];
  /** Why the answer is worth less than usual (for example words without meaning), in our own words. */
  degraded?: string;
}

/** A corpus that `find` can ask. A source throws when it fails: empty must never mean broken. */
export interface SearchSource {
  name: string;
  description: string;
  /** Whether it is asked when the caller names no sources. The web is not. */
  askedByDefault: boolean;
  search(query: string, limit: number, call: Call): Promise<SourceAnswer>;
}
