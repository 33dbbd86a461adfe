export const providerNames = ['duckduckgo', 'searxng', 'brave', 'serper'] as const;
export type ProviderName = (typeof providerNames)[number];

export interface SearchRequest {
  query: string;
  /** The maximum number of results; a provider may return fewer. */
  limit: number;
  signal: AbortSignal;
}

/** One hit, cleaned: an http(s) URL and text without markup, invisible or control characters. */
export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

/** A web search engine. An empty list means that it looked and found nothing; anything else is a `ProviderFailure`. */
export interface SearchProvider {
  name: ProviderName;
  search(request: SearchRequest): Promise<SearchResult[]>;
}

/**
 * `blocked`: it takes us for a robot or says that we ask too often. `timeout`: no complete answer in time.
 * `failed`: everything else, such as no connection, a server error or an answer that is not what it promises.
 */
export type FailureReason = 'blocked' | 'timeout' | 'failed';

export interface FailureFacts {
  status?: number;
  /** How long it asks us to wait. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** Stays inside the chain, which turns it into our error if no other provider answers. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: FailureReason, message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.status = facts.status;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}
