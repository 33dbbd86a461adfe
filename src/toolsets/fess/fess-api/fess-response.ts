import type { CarrelError } from '../../../base/errors.ts';
import { type FessFault, fessError, isRecord } from './fess-errors.ts';

export interface FessResponse {
  status: number;
  contentType: string;
  location: string | undefined;
  retryAfter: string | undefined;
  body: Buffer;
  /** The path below the base URL, which is all that a caller may learn of where Fess is. */
  endpoint: string;
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
