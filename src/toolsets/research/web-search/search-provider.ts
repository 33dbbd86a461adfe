export const providerNames = ['duckduckgo', 'searxng', 'brave', 'serper'] as const;
export type ProviderName = (typeof providerNames)[number];

export interface SearchRequest {
  query: string;
  /** Max results; a provider may return fewer. */
  limit: number;
  signal: AbortSignal;
}

/** A cleaned result: an http(s) URL and text without markup, invisible or control characters. */
export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

/** A web search engine. An empty list means that nothing was found; every failure throws a `ProviderFailure`. */
export interface SearchProvider {
  name: ProviderName;
  search(request: SearchRequest): Promise<SearchResult[]>;
}

/**
 * `blocked`: the provider treats us as a robot or limits our rate. `timeout`: no complete answer in time. `failed`:
 * everything else, such as no connection, a server error or an invalid answer.
 */
export type FailureReason = 'blocked' | 'timeout' | 'failed';

interface FailureDetails {
  status?: number;
  /** The pause that the provider asks for. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A provider's failure. The provider chain catches it. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: FailureReason, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
