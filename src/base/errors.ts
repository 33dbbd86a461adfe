/**
 * Every failure that reaches a caller has one of these codes.
 *
 * The kind decides how a code leaves the program (JSON-RPC code, HTTP status, exit code); the messages are ours and say
 * what to do next. Text from outside (an upstream's error, a file, a page) goes into `cause` and the log, never into
 * `message`, because a model reads what we return.
 */
export type ErrorKind =
  | 'input'
  | 'not_found'
  | 'limit'
  | 'forbidden'
  | 'upstream'
  | 'timeout'
  | 'cancelled'
  | 'config'
  | 'internal';

/** A code is listed once, with when it is used and, where it could be mistaken, when it is not. */
const kinds = {
  // The caller's arguments do not fit the tool's schema. Not for well-formed values that name nothing: that is not_found.
  invalid_arguments: 'input',
  // As above, under the name that the research tools promise.
  validation_error: 'input',
  // The tool, resource, prompt or method has no such name. Not for a missing record of a tool that exists.
  unknown_tool: 'input',
  unknown_prompt: 'input',
  // A cursor that we did not issue, or that belongs to another listing or caller.
  invalid_cursor: 'input',
  resource_not_found: 'not_found',
  job_not_found: 'not_found',
  // More calls than the window allows. Not for too many at the same time: that is too_many_in_flight.
  rate_limit_exceeded: 'limit',
  too_many_in_flight: 'limit',
  // A tool that exists but is switched off here (read-only mode, DISABLED_TOOLS).
  tool_disabled: 'forbidden',
  cancelled: 'cancelled',
  // The program cannot start as it is configured. A supervisor must not retry (exit 78).
  invalid_config: 'config',
  // Something that the program needs is not there now. A supervisor may retry (exit 69).
  unavailable: 'upstream',
  // The disk, or the quota on it, has no room for a write. Reads go on.
  storage_full: 'upstream',
  // The database may be read but not written (file mode, mount, a PostgreSQL standby).
  storage_read_only: 'upstream',
  // Another process held the database longer than we wait. The same call may succeed at once.
  storage_busy: 'limit',
  // The file is damaged or no database. Not for a database of another program: that is storage_foreign.
  storage_corrupt: 'config',
  // A healthy database that another program made.
  storage_foreign: 'config',
  // Written by a later version of this program, whose schema we do not know.
  storage_newer: 'config',
  // A query of ours took longer than its bound and was stopped. Not for an upstream that does not answer.
  query_timeout: 'timeout',
  // A broken assumption of ours. Carries an incident id that is in the log; never any detail.
  internal: 'internal',
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof kinds;

export interface ErrorOptions {
  /** What went wrong underneath. Goes to the log only. */
  cause?: unknown;
  /** Facts for the caller beside code and message. Must hold nothing secret and no foreign text. */
  data?: Record<string, unknown>;
  /** Seconds after which the same call may succeed. */
  retryAfterSeconds?: number;
}

export class CarrelError extends Error {
  override readonly name = 'CarrelError';
  readonly code: ErrorCode;
  readonly data: Record<string, unknown>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get kind(): ErrorKind {
    return kinds[this.code];
  }
}

export function isCarrelError(error: unknown): error is CarrelError {
  return error instanceof CarrelError;
}
