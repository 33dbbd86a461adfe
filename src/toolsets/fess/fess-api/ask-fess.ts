import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { FessCallOptions, FessHealth } from './fess-api.ts';
import { errorIdIn, type FessClient, type FessResponse, jsonObject, statusError } from './fess-client.ts';
import { faultOf, fessError } from './fess-errors.ts';

/** A server, and the API version to use with it. */
export interface FessServer {
  client: FessClient;
  dialect: FessDialect;
  /** True once the server has done so. All searches then use the strict form. */
  treatsLabelAsOptional: boolean;
  onLabelOptional: () => void;
  /** Called if the server rejects a request although its engine is up. */
  onRefusal: (refusal: FessRefusal) => void;
}

/** Details of a refused request, so that the operator can find it in Fess's log. */
export interface FessRefusal {
  endpoint: string;
  httpStatus: number;
  errorId: string | undefined;
  contentType: string;
  requestChars: number;
}

/**
 * Sends a request and returns the answer's body without its envelope. After a 400 or 5xx it also checks the health endpoint,
 * because these statuses may mean that the search engine is down. Fess 15.7 also answers 500 to a wrong token.
 */
export async function askFess(
  server: FessServer,
  endpoint: string,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<{ body: Record<string, unknown>; httpStatus: number }> {
  const response = await server.client.get(endpoint, params, options);
  const { status } = response;
  if (status === 400 || status >= 500) {
    const isUp = await ruleOutOutage(server, endpoint, options).catch(rethrowOutage);
    if (isUp === true) await explainRefusal(server, response, params, options);
  }
  return { body: server.dialect.unwrap(jsonObject(response), endpoint), httpStatus: status };
}

/** Reports a refused request. Throws if the token is wrong, that is, if the request works without it. */
async function explainRefusal(
  { client, onRefusal }: FessServer,
  response: FessResponse,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<void> {
  const { status: httpStatus, endpoint, contentType, requestChars } = response;
  if (httpStatus === 400) onRefusal({ endpoint, httpStatus, errorId: errorIdIn(response), contentType, requestChars });
  if (httpStatus < 500 || !client.hasAccessToken) return;
  const anonymous = await client.get(endpoint, params, { ...options, anonymous: true });
  if (anonymous.status < 500) throw fessError('refused_token', { endpoint, httpStatus });
}

/** Returns the health status. A 503 means red. v2 uses upper case and omits `timed_out`. */
export async function askHealth({ client, dialect }: FessServer, options?: FessCallOptions): Promise<FessHealth> {
  const endpoint = dialect.health;
  const response = await client.get(endpoint, new URLSearchParams(), options);
  const httpStatus = response.status;
  if (httpStatus === 500) {
    const failure = statusError(response);
    throw fessError('engine_down', { endpoint, httpStatus, errorId: errorIdOf(failure), cause: failure.cause });
  }
  const engine = dialect.unwrapHealth(jsonObject(response, [503]));
  const status = isObject(engine) ? String(engine['status']).toLowerCase() : undefined;
  if (status === 'green' || status === 'yellow' || status === 'red') {
    return { status, timedOut: isObject(engine) && engine['timed_out'] === true };
  }
  throw fessError(httpStatus === 503 ? 'server_failed' : 'unexpected_shape', { endpoint, httpStatus });
}

/**
 * Checks that the search engine is up, because Fess answers a search with 200 and no results if it is down. Returns true if
 * it is up and false if unknown. Throws if it is down; the error names `endpoint`.
 */
export async function ruleOutOutage(server: FessServer, endpoint: string, options?: FessCallOptions): Promise<boolean> {
  try {
    const { status } = await askHealth(server, options);
    if (status !== 'red') return true;
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== undefined && inconclusiveFaults.has(fault)) return false;
    if (!(error instanceof CarrelError)) throw error;
    if (fault !== 'engine_down' && fault !== 'server_failed') throw atEndpoint(error, endpoint);
    const httpStatus = Number(error.data['httpStatus']);
    throw fessError('engine_down', { endpoint, httpStatus, errorId: errorIdOf(error), cause: error.cause });
  }
  throw fessError('engine_down', { endpoint, httpStatus: 503 });
}

/** Faults of the health endpoint that leave the state of the search engine unknown. */
const inconclusiveFaults: ReadonlySet<unknown> = new Set([
  'refused_token',
  'refused_address',
  'rate_limited',
  'api_missing',
  'not_json',
  'unexpected_shape',
  'other_status',
]);

/** Rethrows an outage or a cancellation. Ignores other errors, so that the original failure is reported. */
function rethrowOutage(error: unknown): void {
  if (faultOf(error) === 'engine_down' || (error instanceof CarrelError && error.code === 'cancelled')) throw error;
}

function errorIdOf({ data }: CarrelError): string | undefined {
  return typeof data['errorId'] === 'string' ? data['errorId'] : undefined;
}

function atEndpoint(error: CarrelError, endpoint: string): CarrelError {
  return new CarrelError(error.code, error.message, { cause: error, data: { ...error.data, endpoint } });
}

/** Differences between v1 (up to 15.6) and v2 (15.7 and later): paths, envelope and some names. */
export interface FessDialect {
  search: string;
  suggest: string;
  popularWords: string;
  labels: string;
  health: string;
  /** Parameter of `suggest` for field names. Fess's documentation says `fields`, which v1 ignores. */
  suggestField: string;
  suggestKey: string;
  suggestLabelsKey: string;
  popularKey: string;
  labelsKey: string;
  /** Removes the envelope. */
  unwrap(body: Record<string, unknown>, endpoint: string): Record<string, unknown>;
  /** Returns the part of a health answer that has the status, also for a 503. */
  unwrapHealth(body: Record<string, unknown>): unknown;
  /** True if this JSON comes from this API version. */
  recognizes(body: Record<string, unknown>): boolean;
}

export const dialectV1: FessDialect = {
  search: '/api/v1/documents',
  suggest: '/api/v1/suggest-words',
  popularWords: '/api/v1/popular-words',
  labels: '/api/v1/labels',
  health: '/api/v1/health',
  suggestField: 'field',
  suggestKey: 'data',
  suggestLabelsKey: 'labels',
  popularKey: 'data',
  labelsKey: 'data',
  unwrap: (body) => body,
  unwrapHealth: (body) => body['data'],
  recognizes: (body) => isObject(body['data']) || 'error_code:' in body || 'error_code' in body,
};

export const dialectV2: FessDialect = {
  search: '/api/v2/search',
  suggest: '/api/v2/suggest-words',
  popularWords: '/api/v2/popular-words',
  labels: '/api/v2/labels',
  health: '/api/v2/health',
  suggestField: 'fn',
  suggestKey: 'suggest_words',
  suggestLabelsKey: 'types',
  popularKey: 'popular_words',
  labelsKey: 'labels',
  unwrap(body, endpoint) {
    const { response } = body;
    if (isObject(response) && response['status'] === 0) return response;
    throw fessError('unexpected_shape', { endpoint, httpStatus: 200 });
  },
  unwrapHealth({ response }) {
    if (!isObject(response)) return undefined;
    const { error } = response;
    const details = isObject(error) && isObject(error['details']) ? error['details'] : response;
    return details['engine'];
  },
  recognizes: ({ response }) => isObject(response) && 'status' in response,
};
