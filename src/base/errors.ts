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
  // The research tools' own codes, as their specification spells them.
  // No web search provider gave a usable answer: all failed, timed out or blocked us. Not for an empty answer.
  search_failed: 'upstream',
  // A provider looked and found nothing. Never used for a provider that blocked us.
  search_no_results: 'not_found',
  // The address of a page is not a URL, or the fetch rules refuse it or where it redirects.
  fetch_invalid_url: 'input',
  // The note's fields do not fit. Not for a note that cannot be stored: that is note_save_failed.
  note_invalid: 'input',
  note_not_found: 'not_found',
  note_save_failed: 'upstream',
  resource_not_found: 'not_found',
  job_not_found: 'not_found',
  // No web source has the id.
  source_not_found: 'not_found',
  // No task of this caller has the id, or it ended too long ago. A task is named in the protocol's arguments, hence the kind.
  task_not_found: 'input',
  // More calls than the window allows. Not for too many at the same time: that is too_many_in_flight.
  rate_limit_exceeded: 'limit',
  too_many_in_flight: 'limit',
  // An answer of ours that is longer than ANSWER_MAX_BYTES and that its tool could not shorten. Data: bytesMax.
  answer_too_large: 'limit',
  // An address that is not a URL, has no usable host, or is too long. Not for a valid URL that a rule refuses: see below.
  invalid_url: 'input',
  // User name or password in the URL. They would be sent to whoever answers, and kept in logs.
  credentials_in_url: 'input',
  // The fetch rules refuse the caller's URL or a redirect by its scheme, host or port, before any connection.
  scheme_not_allowed: 'forbidden',
  host_not_allowed: 'forbidden',
  port_not_allowed: 'forbidden',
  // The host is, or resolves to, an address that is not on the public internet and that nobody has allowed by name.
  private_network_blocked: 'forbidden',
  // The answer exceeds the call's size limit, before or after decompression. Not for our own request bodies.
  too_large: 'limit',
  // The whole fetch, from the name lookup to the last byte, exceeded its time limit.
  fetch_timeout: 'timeout',
  too_many_redirects: 'upstream',
  // No usable answer: name not found, refused, reset, TLS, not HTTP. Not for a status of 400 or more: that is an answer.
  fetch_failed: 'upstream',
  // A Content-Encoding other than gzip, br and deflate, or more than two of them.
  unsupported_encoding: 'upstream',
  // A write beyond what the caller's token allows: into another collection or thread. Not for reading: that is not_found.
  outside_rights: 'forbidden',
  // A tool that exists but is switched off here (read-only mode, DISABLED_TOOLS).
  tool_disabled: 'forbidden',
  // The engine leaves this to other processes (KB_ROLES). Data: role.
  role_missing: 'forbidden',
  // The document has more bytes than the extractor accepts. Not for one that needs too much work: see the next three.
  document_too_large: 'limit',
  // Turning the document into text took longer than allowed. Not for a slow download.
  extraction_timeout: 'timeout',
  // Turning the document into text needed more memory than a worker may have.
  extraction_memory: 'limit',
  // The process that read the document was killed from outside, as a system short of memory does. The same call may succeed.
  extraction_interrupted: 'upstream',
  // The document has more parts than we read (nodes of a page), found before time or memory ran out.
  extraction_too_complex: 'limit',
  // The document is damaged, or its parser failed on it. Not for a kind that we do not read.
  extraction_failed: 'input',
  // There is no parser for this kind of document, or it is switched off here.
  unsupported_content_type: 'input',
  // The document cannot be read without a password.
  encrypted_document: 'input',
  // The document was read and holds no text, for example scanned pages.
  no_text_in_document: 'input',
  cancelled: 'cancelled',
  // The user was asked and did not agree, or nobody answered. Nothing was changed.
  not_confirmed: 'cancelled',
  // A task or call that ended with the process that did it. Not for work that goes on after a restart.
  interrupted: 'cancelled',
  // A task that ran longer than one may.
  task_expired: 'timeout',
  // The command line is wrong: an unknown flag, command or value (exit 2).
  invalid_usage: 'config',
  // The program cannot start as it is configured. A supervisor must not retry (exit 78).
  invalid_config: 'config',
  // Something that the program needs is unavailable at the moment. A supervisor may retry (exit 69).
  unavailable: 'upstream',
  // The disk, or the quota on it, has no room for a write. Reads still work.
  storage_full: 'upstream',
  // The database may be read but not written (file mode, mount, a PostgreSQL standby).
  storage_read_only: 'upstream',
  // Another process held the database longer than we wait. The same call may succeed at once.
  storage_busy: 'limit',
  // The file is damaged or not a database. Not for a database of another program: that is storage_foreign.
  storage_corrupt: 'config',
  // The file is gone, moved, emptied or replaced, at the start or while the program runs. Not for one that was never made.
  storage_lost: 'config',
  // A healthy database of another program.
  storage_foreign: 'config',
  // Written by a later version of this program, whose schema we do not know.
  storage_newer: 'config',
  // Written by a version before the first release, whose schema we no longer know.
  storage_older: 'config',
  // The database that a backup would be restored into is not empty, and --force was not given.
  storage_not_empty: 'input',
  // A file that is not a backup, or is damaged or truncated. Not for a newer or older schema.
  invalid_backup: 'input',
  // One of our queries exceeded its time limit and was stopped. Not for an upstream that does not answer.
  query_timeout: 'timeout',
  // No context entry has the id, or it was removed.
  entry_not_found: 'not_found',
  // An idempotency_key that an earlier write used with other arguments.
  idempotency_conflict: 'input',
  // A file that `carrel import` cannot read: damaged, or in an unknown format.
  invalid_import: 'input',
  // Fess answered, but not with a result: an error status, a redirect, invalid JSON, a truncated answer, its engine down, or
  // hits outside the domain. Data: httpStatus, endpoint and, where Fess gave one, errorId.
  fess_error: 'upstream',
  // No answer from Fess at all (httpStatus is null). Not for a Fess whose engine is down: that one answers.
  fess_unreachable: 'upstream',
  // Fess took longer than fessRequestTimeoutMs. Not for a caller that gave up: that is cancelled.
  fess_timeout: 'timeout',
  // The text of a document has changed since the cursor was issued, or while it was read: its chunks would not fit together.
  content_changed: 'input',
  // The document has no text in the index, and contentFetch.enabled keeps the bridge from its address.
  content_fetch_disabled: 'forbidden',
  // The document is a PDF and contentFetch.enablePdf is off. Not for other kinds: those are unsupported_content_type.
  pdf_disabled: 'forbidden',
  // The document's own address answers with a status of 400 or more. Not for an address that does not answer.
  content_unavailable: 'upstream',
  // No answer from the kb engine at all: it is down, or KB_ENGINE_URL leads elsewhere. Not for an engine that answers badly.
  engine_unreachable: 'upstream',
  // The kb engine exceeded its time limit. Not for a caller that gave up: that is cancelled.
  engine_timeout: 'timeout',
  // The kb engine rejects KB_API_KEY, or requires one. Not for the key of the MCP server: that is HTTP 401.
  engine_unauthorized: 'upstream',
  // The kb engine answered, but not with a result. Data: httpStatus.
  engine_error: 'upstream',
  // No document of the knowledge base has the id, or it was deleted.
  document_not_found: 'not_found',
  // No document of the knowledge base is in the collection. Data: collection and, nearest first, the collections there are.
  collection_not_found: 'not_found',
  // The document exists, but is a file: only the text of notes can be replaced.
  not_a_note: 'input',
  // A document with exactly these bytes exists already. Data: document_id, title.
  duplicate: 'input',
  // A bulk operation that names no documents. Not for one whose selection finds none.
  empty_selection: 'input',
  // A bulk operation would change a larger share of all documents than the safety threshold allows without force.
  safety_threshold_exceeded: 'limit',
  // A Content-Type that the API does not accept. Not for kinds of documents: unsupported_content_type.
  unsupported_media_type: 'input',
  // A body that is not valid JSON or not a form, or that ends before it is complete.
  malformed_body: 'input',
  // No upload of this caller has the id: it never existed, belongs to another caller, or was idle too long.
  upload_not_found: 'not_found',
  // Different bytes for a chunk_index already received, chunks mixed with upload_url, or a call during the transfer.
  upload_conflict: 'input',
  // Finished before all bytes had arrived. Data: missing_chunks, received_bytes, total_size.
  upload_incomplete: 'input',
  // More bytes than one upload may have, or than its total_size. Not for many uploads in sum: that is upload_quota.
  upload_too_large: 'limit',
  // The caller, or all callers together, have reached the limit of uploads or staged bytes.
  upload_quota: 'limit',
  // A local file outside the allowed folders, or something that is not a regular file.
  path_not_allowed: 'forbidden',
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

/** What the system calls a failure, such as ENOENT. Our own errors have none. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && !isCarrelError(error) && 'code' in error ? String(error.code) : undefined;
}
