import { CarrelError, type ErrorCode, isCarrelError } from '../../../base/errors.ts';

/** Translates errors of PostgreSQL and its driver into CarrelErrors. The original error is the `cause`. */
export function storageError(error: unknown): unknown {
  if (isCarrelError(error) || !(error instanceof Error)) return error;
  const code = errorCode(error);
  if (code === undefined) {
    return isLost(error) || isUnanswered(error) || isConnectTimeout(error) ? translate('08', error) : error;
  }
  return translate(code, error) ?? translate(code.slice(0, 2), error) ?? error;
}

/** Rewords a timeout error for writes. Its message is about searches. */
export function errorOfWrite(error: unknown): unknown {
  if (!isCarrelError(error) || error.code !== 'query_timeout') return error;
  const message = 'The change took too long and was stopped; nothing was changed. Split it into smaller changes.';
  return new CarrelError('query_timeout', message, { cause: error });
}

/** Returns true for a serialization failure or a deadlock. A retry normally succeeds. */
export function isRetryable(error: unknown): boolean {
  return hasCode(error, '40001', '40P01');
}

/** Returns true if the connection was already lost, so that the statement was not sent. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && /not queryable/i.test(error.message);
}

/** Returns true if the server did not answer in time. The connection was then abandoned. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && /query read timeout/i.test(error.message);
}

/** Returns true if the connection broke while in use. Its transaction is lost too, unless it had already ended. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (errorCode(error) === undefined) return isUnsent(error) || /connection (?:terminated|ended)/i.test(error.message);
  return hasCode(error, '57P01', '57P02', '57P05', '08003', '08006', 'ECONNRESET', 'EPIPE');
}

/** Returns true if no server, or none of the right kind, can be reached. A slow server does not count. */
export function isUnreachable(error: unknown): boolean {
  if (isCarrelError(error)) return error.code === 'unavailable';
  if (!(error instanceof Error)) return false;
  return isLost(error) || hasCode(error, '57P03', ...socketErrors) || isConnectTimeout(error);
}

/** Returns true if the server has no connection left. */
export function hasNoConnectionLeft(error: unknown): boolean {
  return hasCode(error, '53300');
}

export function isReadOnly(error: unknown): boolean {
  return hasCode(error, '25006');
}

const socketErrors: readonly string[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
];

interface Translation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

const unavailable = (message: string): Translation => ({ code: 'unavailable', message, retryAfterSeconds: 1 });

const unreachable = unavailable('The database does not answer. Check that PostgreSQL runs and can be reached.');

const credentials: Translation = {
  code: 'invalid_config',
  message: 'PostgreSQL rejects the configured user, password or database. Check POSTGRESQL_CONNECTION_STRING.',
};

const busy: Translation = {
  code: 'storage_busy',
  message: 'Another client is changing the same data. Try again.',
  retryAfterSeconds: 1,
};

const corrupt: Translation = {
  code: 'storage_corrupt',
  message: 'PostgreSQL reports damaged data. Restore a backup.',
};

/** Messages by SQLSTATE or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by socket error. */
const translations: Readonly<Record<string, Translation>> = {
  '08': unreachable,
  '25006': { code: 'storage_read_only', message: 'The database is read-only. Connect to the primary server.' },
  '28': credentials,
  '3D': credentials,
  '40': busy,
  '42501': {
    code: 'invalid_config',
    message: 'The configured PostgreSQL user lacks permission. Grant it rights on the database.',
  },
  '53': unavailable(
    'PostgreSQL reached one of its limits. Make a smaller request, or raise the limit that its log names.',
  ),
  '53100': {
    code: 'storage_full',
    message: 'The disk of the database is full; nothing was saved. Free some space and try again.',
  },
  '53200': unavailable(
    'PostgreSQL ran out of memory or locks. Make a smaller request, or raise its memory or max_locks_per_transaction.',
  ),
  '53300': unavailable('PostgreSQL has no free connection. Raise its max_connections, or stop programs that use it.'),
  '55P03': busy,
  '57014': {
    code: 'query_timeout',
    message: 'The search took too long and was stopped. Search for fewer or rarer words.',
  },
  '57': unreachable,
  '58': unavailable(
    'PostgreSQL could not read or write its files. Its log names the files. Check its disk, then try again.',
  ),
  XX001: corrupt,
  XX002: corrupt,
  ...Object.fromEntries(socketErrors.map((code) => [code, unreachable])),
};

function translate(code: string, cause: Error): CarrelError | undefined {
  const translation = translations[code];
  if (translation === undefined) return undefined;
  const { code: carrelCode, message, ...options } = translation;
  return new CarrelError(carrelCode, message, { cause, ...options });
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes(errorCode(error) ?? '');
}

function errorCode(error: Error): string | undefined {
  if (error instanceof AggregateError) {
    const [first] = error.errors;
    return first instanceof Error ? errorCode(first) : undefined;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns true if connecting timed out. Recognised by the message, because the driver's own errors have no code. */
function isConnectTimeout(error: Error): boolean {
  return /connection timeout|timeout expired|timeout exceeded when trying to connect/i.test(error.message);
}
