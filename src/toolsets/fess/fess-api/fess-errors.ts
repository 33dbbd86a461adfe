import { CarrelError } from '../../../base/errors.ts';
import type { FessResponse } from './fess-client.ts';

/** Why an answer of Fess is no result. Also in the error's data, for callers that treat some of them differently. */
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

/** What we say. Fess's own texts hold queries, roles, hosts and stacks, so nothing of them is here. */
const messages: Record<FessFault, string> = {
  refused_request: 'Fess refused the request. Simplify the query, or check sort and facets.',
  refused_token: 'Fess refused the access. The operator must check fessAccessToken.',
  refused_address: 'Fess blocks the address of this bridge. The operator must check its rate limit settings.',
  rate_limited: 'Fess is receiving too many requests. Try again later.',
  server_failed: 'Fess failed to answer. Try again; if it persists, the operator finds the cause in the Fess log.',
  other_status: 'Fess answered with an unexpected status.',
  api_missing:
    'Fess has no search API at this address. The operator must check fessBaseUrl, fessApi and the JSON response setting of Fess.',
  not_json:
    'Fess answered with something that is not JSON. The operator must check fessBaseUrl and what stands in front of Fess.',
  unexpected_shape:
    'Fess answered in a form that the bridge does not know. The operator must check fessBaseUrl and fessApi.',
  answer_too_large: 'The answer of Fess is too large. Ask for fewer results.',
  answer_incomplete: 'The answer of Fess broke off. Try again.',
  engine_down:
    'The search engine behind Fess is not working, so it cannot be said whether anything matches. Try again later.',
  label_not_applied:
    'Fess did not keep the search within the knowledge domain, so its results are withheld. Rephrase the query in plain words.',
};

export interface FessFaultFacts {
  endpoint: string;
  httpStatus: number;
  errorId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export function fessError(fault: FessFault, facts: FessFaultFacts): CarrelError {
  const { endpoint, httpStatus, errorId, retryAfterSeconds, cause } = facts;
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
  const message = `Fess did not answer within ${timeoutMs} ms. Try again, or ask for fewer results.`;
  return new CarrelError('fess_timeout', message, { data: { httpStatus: null, endpoint, message } });
}

export function faultOf(error: unknown): FessFault | undefined {
  if (!(error instanceof CarrelError) || error.code !== 'fess_error') return undefined;
  return error.data['fault'] as FessFault;
}

/** The JSON object of an answer, or the error that the answer means. `accept` names further statuses with a result. */
export function jsonObject(response: FessResponse, accept: readonly number[] = []): Record<string, unknown> {
  const { status, endpoint } = response;
  if (status !== 200 && !accept.includes(status)) throw statusError(response);
  const value = parseJson(response);
  if (value === undefined) throw fessError('not_json', { endpoint, httpStatus: status, cause: excerpt(response) });
  if (!isRecord(value)) throw fessError('unexpected_shape', { endpoint, httpStatus: status, cause: excerpt(response) });
  return value;
}

export function statusError(response: FessResponse): CarrelError {
  const { status, endpoint } = response;
  const fault = statusFault(status);
  return fessError(fault, {
    endpoint,
    httpStatus: status,
    errorId: errorId(parseJson(response)),
    retryAfterSeconds: fault === 'rate_limited' ? retryAfterSeconds(response.retryAfter) : undefined,
    cause: excerpt(response),
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A missing API is a redirect to an HTML page; other redirects mean a wrong address, which is the same to us. */
function statusFault(status: number): FessFault {
  if ((status >= 300 && status < 400) || status === 404) return 'api_missing';
  if (status === 400) return 'refused_request';
  if (status === 401) return 'refused_token';
  if (status === 403) return 'refused_address';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_failed' : 'other_status';
}

/** Up to 15.6 the key is really spelt `error_code:`. The id is Fess's text, so it passes only if it looks like one. */
function errorId(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const id = value['error_code:'] ?? value['error_code'];
  return typeof id === 'string' && /^[0-9a-fA-F-]{8,64}$/.test(id) ? id : undefined;
}

function retryAfterSeconds(header: string | undefined): number {
  const seconds = /^\d{1,6}$/.test(header ?? '')
    ? Number(header)
    : Math.ceil((Date.parse(header ?? '') - Date.now()) / 1000);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 60;
}

function parseJson({ body }: FessResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** For the log. */
function excerpt({ status, contentType, location, body }: FessResponse): Error {
  const target = location === undefined ? '' : ` to ${location}`;
  return new Error(`Fess: ${status} ${contentType}${target}: ${body.toString('utf8').slice(0, 2000)}`);
}
