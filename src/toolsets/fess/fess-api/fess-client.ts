import { parseBoundedJson, serviceAnswerBytesMax } from '../../../base/bounded-json.ts';
import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { createServiceClient, ServiceFailure } from '../../../http/service-client.ts';
import { type FessFault, fessError, fessTimeout, fessUnreachable } from './fess-errors.ts';

export interface FessClientConfig {
  /** The server's scheme, host and context path, as configured. */
  baseUrl: string;
  accessToken?: string;
  userAgent: string;
  timeoutMs: number;
  /** Max bytes of an answer. Longer ones are rejected while reading. */
  answerBytesMax?: number;
}

export interface FessClient {
  /** Sends one GET request. Follows no redirects, so that the token is sent to the configured server only. */
  get(endpoint: string, params: URLSearchParams, options?: FessRequestOptions): Promise<FessResponse>;
  readonly hasAccessToken: boolean;
  close(): void;
}

interface FessRequestOptions {
  signal?: AbortSignal;
  bytesMax?: number;
  /** Omits the access token. */
  anonymous?: boolean;
}

export function createFessClient(config: FessClientConfig): FessClient {
  const client = createServiceClient({
    baseUrl: config.baseUrl,
    headers: {
      accept: 'application/json, text/html;q=0.5, */*;q=0.1',
      'accept-encoding': 'identity',
      'user-agent': config.userAgent,
    },
    timeoutMs: config.timeoutMs,
    answerBytesMax: config.answerBytesMax ?? serviceAnswerBytesMax,
  });
  const credentials = credentialHeaders(new URL(config.baseUrl), config.accessToken);
  return {
    hasAccessToken: config.accessToken !== undefined,
    async get(endpoint, params, { signal, bytesMax, anonymous = false } = {}) {
      const request = {
        headers: anonymous ? {} : credentials,
        method: 'GET',
        path: endpoint,
        query: params,
        signal,
        answerBytesMax: bytesMax,
        repeatable: true,
      };
      const { status, headers, body } = await client.request(request).catch((error: unknown) => {
        throw toFessError(error, endpoint, config.timeoutMs);
      });
      return {
        status,
        contentType: headers['content-type'] ?? '',
        location: headers.location,
        retryAfter: headers['retry-after'],
        body,
        endpoint,
        requestChars: endpoint.length + 1 + params.toString().length,
      };
    },
    close: () => client.close(),
  };
}

function toFessError(error: unknown, endpoint: string, timeoutMs: number): unknown {
  if (!(error instanceof ServiceFailure)) return error;
  const httpStatus = error.status ?? 0;
  switch (error.fault) {
    case 'cancelled':
      return new CarrelError('cancelled', 'The call was cancelled.');
    case 'timeout':
      return fessTimeout(endpoint, timeoutMs);
    case 'unreachable':
      return fessUnreachable(endpoint, error.cause);
    case 'too_large':
      return fessError('answer_too_large', { endpoint, httpStatus });
    case 'incomplete':
      return fessError('answer_incomplete', { endpoint, httpStatus, cause: error.cause });
  }
}

function credentialHeaders(base: URL, accessToken: string | undefined): Record<string, string> {
  if (accessToken !== undefined) return { authorization: `Bearer ${accessToken}` };
  if (base.username === '') return {};
  const login = `${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

export interface FessResponse {
  status: number;
  contentType: string;
  location: string | undefined;
  retryAfter: string | undefined;
  body: Buffer;
  /** The path below the base URL. Callers may learn this much about Fess's location, but no more. */
  endpoint: string;
  /** Length of path and query. Fess rejects request lines above 8 KiB. */
  requestChars: number;
}

/** Returns an answer's JSON object. Throws for a status other than 200, unless `accept` lists it. */
export function jsonObject(response: FessResponse, accept: readonly number[] = []): Record<string, unknown> {
  const { status, endpoint } = response;
  if (status !== 200 && !accept.includes(status)) throw statusError(response);
  const value = parseJson(response);
  if (value === undefined) throw fessError('not_json', { endpoint, httpStatus: status, cause: excerpt(response) });
  if (!isObject(value)) throw fessError('unexpected_shape', { endpoint, httpStatus: status, cause: excerpt(response) });
  return value;
}

export function statusError(response: FessResponse): CarrelError {
  const { status, endpoint } = response;
  const fault = statusFault(status);
  return fessError(fault, {
    endpoint,
    httpStatus: status,
    errorId: errorIdIn(response),
    retryAfterSeconds: fault === 'rate_limited' ? retryAfterSeconds(response.retryAfter) : undefined,
    cause: excerpt(response),
  });
}

/** Returns the fault of a status. Fess redirects requests for a missing API; other redirects mean a wrong URL. */
function statusFault(status: number): FessFault {
  if ((status >= 300 && status < 400) || status === 404) return 'api_missing';
  if (status === 400) return 'refused_request';
  if (status === 401) return 'refused_token';
  if (status === 403) return 'refused_address';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_failed' : 'other_status';
}

/** Returns Fess's error id. Up to 15.6 the key really has a colon: `error_code:`. Ignores values that don't look like an id. */
export function errorIdIn(response: FessResponse): string | undefined {
  const value = parseJson(response);
  if (!isObject(value)) return undefined;
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
  return parseBoundedJson(body.toString('utf8'));
}

/** Describes an answer for the log. */
function excerpt({ status, contentType, location, body, requestChars }: FessResponse): Error {
  const target = location === undefined ? '' : ` redirecting to ${location}`;
  const text = body.toString('utf8').slice(0, 2000);
  return new Error(
    `Fess answered a request of ${requestChars} characters with ${status} ${contentType}${target}: ${text}`,
  );
}
