import type { IncomingHttpHeaders } from 'node:http';
import type { FakeLabel } from './callers.ts';
import type { FakeDocument } from './fake-document.ts';
import type { FakeWord } from './suggest-index.ts';

/** `down`: Fess answers, but its search engine is gone. */
export type FakeHealth = 'green' | 'yellow' | 'red' | 'down';

/** The fake's state, which a test may change while it runs. */
export interface FessState {
  documents: readonly FakeDocument[];
  labels: readonly FakeLabel[];
  words: readonly FakeWord[];
  /** Access tokens with their permissions. */
  tokens: Readonly<Record<string, readonly string[]>>;
  health: FakeHealth;
  /** How searches behave while the engine is down: 15.4 to 15.8 find nothing, older versions fail. */
  outage: 'empty' | 400 | 500;
  additionalFields: readonly string[];
  /** 15.7 or later. */
  recent: boolean;
  scroll: boolean;
  popularWordsEnabled: boolean;
  orSearchMinHitCount: number;
  dropsFilters: boolean;
  listsEmptyBuckets: boolean;
  /** 15.7 answers 500 to an unknown token. */
  wrongTokenStatus: 401 | 500;
}

export interface FessRequest {
  method: string;
  /** Without the context path. */
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
