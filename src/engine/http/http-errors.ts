import type { IncomingMessage, ServerResponse } from 'node:http';
import { CarrelError, type ErrorKind, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { refuseUnread } from '../../http/respond.ts';

/** For codes that need another status than their kind. */
const statusOfCode: Readonly<Record<string, number>> = {
  empty_selection: 400,
  malformed_body: 400,
  duplicate: 409,
  safety_threshold_exceeded: 409,
  too_large: 413,
  unsupported_media_type: 415,
  storage_full: 507,
};

const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  input: 422,
  not_found: 404,
  limit: 503,
  forbidden: 403,
  upstream: 503,
  timeout: 504,
  // Nobody is left to read it.
  cancelled: 503,
  config: 500,
  internal: 500,
};

/** Every failure is sent as `{"error": code, "detail": message}`, along with its data. */
export function respondError(request: IncomingMessage, response: ServerResponse, thrown: unknown, log: Logger): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    // The answer has already started and cannot be completed: better broken off than ended as if it were whole.
    log.warn('an answer broke off', { path: request.url });
    response.destroy();
    return;
  }
  const error = isCarrelError(thrown) ? thrown : unexpected(thrown, request, log);
  const status = statusOfCode[error.code] ?? statusOfKind[error.kind];
  const { retryAfterSeconds } = error;
  const headers: Record<string, string> =
    status === 503 ? { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds ?? 1))) } : {};
  refuseUnread(response, status, { error: error.code, detail: error.message, ...error.data }, headers);
}

function unexpected(error: unknown, request: IncomingMessage, log: Logger): CarrelError {
  const incident = log.incident('http request failed', error, { path: request.url });
  return new CarrelError('internal', `Internal error. The log has the details under incident ${incident}.`);
}
