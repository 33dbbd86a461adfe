import { CarrelError } from '../../../base/errors.ts';

/** The reason why Fess returned no result. Part of the error's `data`. */
export type FessFault =
  | 'refused_request'
  | 'refused_token'
  | 'refused_address'
  | 'rate_limited'
  | 'server_failed'
  | 'other_status'
  | 'api_missing'
  | 'not_json'
  | 'unexpected_shape'
  | 'answer_too_large'
  | 'answer_incomplete'
  | 'engine_down'
  | 'label_not_applied';

/** Messages for callers. Messages of Fess are never returned, because they contain queries, roles, hosts and stack traces. */
const messages: Record<FessFault, string> = {
  refused_request: 'Fess refused the request. Simplify the query, or check sort and facets.',
  refused_token: 'Fess refused access. The operator must check fessAccessToken (or FESS_ACCESS_TOKEN).',
  refused_address: 'Fess blocks the address of this bridge. The operator must check the rate limit settings of Fess.',
  rate_limited: 'Fess is rate limiting requests. Try again later.',
  server_failed: 'Fess failed to answer. Try again; if it persists, the operator finds the cause in the Fess log.',
  other_status: 'Fess answered with an unexpected status. The operator must check fessBaseUrl.',
  api_missing:
    'Fess has no search API at this address. The operator must check fessBaseUrl, fessApi and the JSON response setting of Fess.',
  not_json:
    'Fess answered with something that is not JSON. The operator must check fessBaseUrl and any proxy in front of Fess.',
  unexpected_shape:
    'Fess answered in a form that the bridge does not know. The operator must check fessBaseUrl and fessApi.',
  answer_too_large: 'The answer from Fess is too large. Ask for fewer results.',
  answer_incomplete: 'The answer from Fess was truncated. Try again.',
  engine_down: 'The search engine of Fess is down, so it is unknown whether anything matches. Try again later.',
  label_not_applied:
    'Fess searched outside the knowledge domain, so its results are withheld. The cause is the server, not the query: the operator must set query.orsearch.min.hit.count of Fess to -1, and look for plugins that rewrite searches.',
};

interface FessFaultDetails {
  endpoint: string;
  httpStatus: number;
  errorId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export function fessError(fault: FessFault, details: FessFaultDetails): CarrelError {
  const { endpoint, httpStatus, errorId, retryAfterSeconds, cause } = details;
  const message = messages[fault];
  return new CarrelError('fess_error', message, {
    cause,
    data: { httpStatus, endpoint, message, fault, ...(errorId === undefined ? {} : { errorId }) },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

export function fessUnreachable(endpoint: string, cause: unknown): CarrelError {
  const message =
    'Fess cannot be reached. Try again later; if it persists, the operator must check fessBaseUrl and the server.';
  return new CarrelError('fess_unreachable', message, { cause, data: { httpStatus: null, endpoint, message } });
}

export function fessTimeout(endpoint: string, timeoutMs: number): CarrelError {
  const remedy = endpoint.endsWith('/health')
    ? 'Try again later; if it persists, the operator must check the server.'
    : 'Try again, or ask for fewer results.';
  const message = `Fess did not answer within ${timeoutMs} ms. ${remedy}`;
  return new CarrelError('fess_timeout', message, { data: { httpStatus: null, endpoint, message } });
}

export function faultOf(error: unknown): FessFault | undefined {
  if (!(error instanceof CarrelError) || error.code !== 'fess_error') return undefined;
  return error.data['fault'] as FessFault;
}
