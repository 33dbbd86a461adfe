import type { IncomingHttpHeaders } from 'node:http';
import type { FakeLabel } from './callers.ts';
import type { FakeDocument } from './fake-document.ts';
import type { FakeWord } from './suggest-index.ts';

/** Health of the search engine. `down`: Fess still answers, but its search engine is unreachable. */
export type FakeHealth = 'green' | 'yellow' | 'red' | 'down';

/** The state of the fake Fess, which tests may change while it runs. */
export interface FessState {
  documents: readonly FakeDocument[];
  labels: readonly FakeLabel[];
  words: readonly FakeWord[];
  /** Access tokens with their permissions. */
  tokens: Readonly<Record<string, readonly string[]>>;
  health: FakeHealth;
  /** Answer to searches while the engine is down: 15.4 to 15.8 return an empty result, older versions fail with a status. */
  outage: 'empty' | 400 | 500;
  additionalFields: readonly string[];
  /** True if the version is 15.7 or later. */
  is157OrLater: boolean;
  scroll: boolean;
  popularWordsEnabled: boolean;
  orSearchMinHitCount: number;
  dropsFilters: boolean;
  listsEmptyBuckets: boolean;
  /** Status for an unknown token: Fess 15.7 answers 500. */
  wrongTokenStatus: 401 | 500;
}

export interface FessRequest {
  method: string;
  /** The path, without Fess's context path. */
  path: string;
  params: URLSearchParams;
  headers: IncomingHttpHeaders;
}

export interface FessAnswer {
  status: number;
  contentType: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
}
