import { CarrelError, isCarrelError } from '../../base/errors.ts';

/** Translates errors of PostgreSQL and its connection into messages that say what to do; the original text stays inside. */
export function storageError(error: unknown): unknown {
  if (isCarrelError(error) || !(error instanceof Error)) return error;
  const code = errorCode(error);
  if (code === undefined)
    return isLost(error) || isSilence(error) || isNoConnection(error) ? unavailable(error) : error;
  return (translations.get(code) ?? translations.get(code.slice(0, 2)))?.(error) ?? error;
}

/** The transaction conflicted with another one and will succeed when retried. */
export function isRetryable(error: unknown): boolean {
  const code = error instanceof Error ? errorCode(error) : undefined;
  return code === '40001' || code === '40P01';
}

/** The statement did not leave us: the connection was known to be lost. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && /not queryable/i.test(error.message);
}

/** There was no answer for so long that the connection was given up. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && /query read timeout/i.test(error.message);
}

/** The connection broke while it was used, and with it its transaction, unless that had ended. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  if (code === undefined) return isUnsent(error) || /connection (?:terminated|ended)/i.test(error.message);
  return ['57P01', '57P02', '57P05', '08003', '08006', 'ECONNRESET', 'EPIPE'].includes(code);
}

/** Nobody is there who could be connected to, or none of the right kind; not one that is there and slow. */
export function isAway(error: unknown): boolean {
  if (isCarrelError(error)) return error.code === 'unavailable';
  if (!(error instanceof Error)) return false;
  const code = errorCode(error) ?? '';
  if (isLost(error) || code === '57P03' || socketErrors.includes(code)) return true;
  return /connection timeout|timeout expired/i.test(error.message);
}

/** The server has no connection left for us. */
export function isCrowded(error: unknown): boolean {
  return error instanceof Error && errorCode(error) === '53300';
}

export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && errorCode(error) === '25006';
}

type Translation = (cause: Error) => CarrelError;

const unavailable: Translation = (cause) =>
  new CarrelError('unavailable', 'The database does not answer. Check that PostgreSQL runs and can be reached.', {
    cause,
    retryAfterSeconds: 1,
  });

const crowded: Translation = (cause) =>
  new CarrelError(
    'unavailable',
    'PostgreSQL has no connection left. Raise its max_connections, or let fewer programs use it.',
    { cause, retryAfterSeconds: 1 },
  );

const exhausted: Translation = (cause) =>
  new CarrelError(
    'unavailable',
    'PostgreSQL has run out of memory, or of room for locks. Ask for less at once, or raise its memory or its max_locks_per_transaction.',
    { cause, retryAfterSeconds: 1 },
  );

const limited: Translation = (cause) =>
  new CarrelError(
    'unavailable',
    'PostgreSQL has reached one of its limits. Ask for less at once, or raise the limit that its log names.',
    { cause, retryAfterSeconds: 1 },
  );

const troubled: Translation = (cause) =>
  new CarrelError(
    'unavailable',
    'PostgreSQL could not read or write files of its own. Its log names them; see to its disk, and try again.',
    { cause, retryAfterSeconds: 1 },
  );

const readOnly: Translation = (cause) =>
  new CarrelError('storage_read_only', 'The database is read-only. Connect to the primary server.', { cause });

const credentials: Translation = (cause) =>
  new CarrelError(
    'invalid_config',
    'PostgreSQL rejects the configured user, password or database. Check POSTGRESQL_CONNECTION_STRING.',
    { cause },
  );

const rights: Translation = (cause) =>
  new CarrelError(
    'invalid_config',
    'The configured PostgreSQL user may not do this. Grant it rights on the database.',
    {
      cause,
    },
  );

const full: Translation = (cause) =>
  new CarrelError(
    'storage_full',
    'The disk of the database is full; nothing was saved. Free some space and try again.',
    {
      cause,
    },
  );

const busy: Translation = (cause) =>
  new CarrelError('storage_busy', 'Others are changing the same data. Try again.', { cause, retryAfterSeconds: 1 });

const corrupt: Translation = (cause) =>
  new CarrelError('storage_corrupt', 'PostgreSQL reports damaged data. Restore a backup.', { cause });

const timeout: Translation = (cause) =>
  new CarrelError('query_timeout', 'The search took too long and was stopped. Ask for fewer or rarer words.', {
    cause,
  });

/** What is said of a write, of the error that a search would have failed with. */
export function errorOfWrite(error: unknown): unknown {
  if (!isCarrelError(error) || error.code !== 'query_timeout') return error;
  const message = 'The change took too long and was stopped; nothing was changed. Change less at a time.';
  return new CarrelError('query_timeout', message, { cause: error });
}

const socketErrors: readonly string[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
];

/**
 * By SQLSTATE or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by the code of the
 * socket.
 */
const translations = new Map<string, Translation>([
  ['08', unavailable],
  ['25006', readOnly],
  ['28', credentials],
  ['3D', credentials],
  ['40', busy],
  ['42501', rights],
  ['53', limited],
  ['53100', full],
  ['53200', exhausted],
  ['53300', crowded],
  ['55P03', busy],
  ['57014', timeout],
  ['57', unavailable],
  ['58', troubled],
  ['XX001', corrupt],
  ['XX002', corrupt],
  ...socketErrors.map((code): [string, Translation] => [code, unavailable]),
]);

function errorCode(error: Error): string | undefined {
  if (error instanceof AggregateError) {
    const [first] = error.errors;
    return first instanceof Error ? errorCode(first) : undefined;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What `pg` itself throws has no code. */
function isNoConnection(error: Error): boolean {
  return /connection timeout|timeout expired|timeout exceeded when trying to connect/i.test(error.message);
}
