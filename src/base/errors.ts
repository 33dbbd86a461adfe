/** Decides the JSON-RPC code, HTTP status or exit code of an error. */
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

/** Every error code, with its kind and meaning. docs/errors.md is generated from this table. */
export const errorCodes = {
  invalid_arguments: ['input', "The arguments don't match the tool's schema. The message names the field."],
  validation_error: ['input', 'The same as `invalid_arguments`, in the research tools.'],
  unknown_tool: ['input', 'No tool, resource or method has this name.'],
  unknown_prompt: ['input', 'No prompt has this name.'],
  invalid_cursor: ['input', 'The cursor is from another server, caller or list. List again from the start.'],
  search_failed: ['upstream', 'Every web search provider failed, timed out or blocked the request.'],
  search_no_results: ['not_found', 'The web search succeeded but found nothing.'],
  fetch_invalid_url: [
    'input',
    'The address of the page is not a URL, or the fetch rules forbid it or one of its redirects.',
  ],
  note_invalid: ['input', 'A field of the note is missing or too long.'],
  note_not_found: ['not_found', 'No note has this id, or it was deleted.'],
  note_save_failed: ['upstream', 'The note could not be stored. `retryAfter` says when to try again.'],
  resource_not_found: ['not_found', 'No resource has this URI.'],
  job_not_found: ['not_found', 'No job has this id, or it was removed after `KB_JOBS_KEPT_DAYS`.'],
  source_not_found: ['not_found', 'No web source has this id. `carrel sources` lists them.'],
  // The kind is `input`, because MCP treats an unknown task id as an invalid parameter.
  task_not_found: ['input', 'This caller has no task with this id, or its result has expired.'],
  rate_limit_exceeded: ['limit', 'Too many calls in the last minute. `retryAfter` says when to try again.'],
  too_many_in_flight: ['limit', 'Too many calls run at the same time. Wait for one to finish, then try again.'],
  answer_too_large: ['limit', 'The answer exceeds `ANSWER_MAX_BYTES`. Request less. Data: `bytesMax`.'],
  invalid_url: ['input', 'The address is not a URL, has no usable host, or is too long.'],
  credentials_in_url: ['input', 'The URL contains a user name or password, which would end up in logs. Remove it.'],
  scheme_not_allowed: ['forbidden', 'The URL or a redirect uses a scheme other than http and https.'],
  host_not_allowed: ['forbidden', 'The fetch rules forbid the host of the URL or of a redirect.'],
  port_not_allowed: ['forbidden', 'The fetch rules forbid the port of the URL or of a redirect.'],
  private_network_blocked: ['forbidden', 'The host is at a private address. `FETCH_ALLOW_PRIVATE` names exceptions.'],
  too_large: ['limit', 'A request body or a response, before or after decompression, exceeds the size limit.'],
  fetch_timeout: ['timeout', 'The fetch, from name lookup to last byte, took too long.'],
  too_many_redirects: ['upstream', 'The site redirects too often, or in a circle.'],
  fetch_failed: ['upstream', 'Name lookup, connection or TLS failed, or the response is not valid HTTP.'],
  unsupported_encoding: [
    'upstream',
    'The response uses a Content-Encoding other than gzip, br and deflate, or more than two of them.',
  ],
  outside_rights: [
    'forbidden',
    "The caller's token may not write here. A read fails with a `…_not_found` code instead.",
  ],
  tool_disabled: ['forbidden', 'The tool is disabled by `--read-only` or `DISABLED_TOOLS`.'],
  role_missing: [
    'forbidden',
    'This engine process does not have the role that the call needs; see `KB_ROLES`. Data: `role`.',
  ],
  document_too_large: ['limit', 'The document has more bytes than the extractor accepts.'],
  extraction_timeout: ['timeout', 'Extracting the text took more CPU time than `KB_EXTRACT_CPU_MS`.'],
  extraction_memory: ['limit', 'Extracting the text needed more memory than `KB_EXTRACT_MEMORY_MB`.'],
  extraction_interrupted: ['upstream', 'The extraction process was killed, usually because memory ran out. Try again.'],
  extraction_too_complex: ['limit', 'The document has too many parts, such as HTML elements.'],
  extraction_failed: ['input', 'The document is damaged, or its parser failed.'],
  unsupported_content_type: ['input', 'Carrel has no parser for this kind of document, or the parser is disabled.'],
  encrypted_document: ['input', 'The document needs a password.'],
  no_text_in_document: ['input', 'The document contains no text, for example scanned pages without OCR.'],
  cancelled: ['cancelled', 'The caller cancelled the call.'],
  not_confirmed: ['cancelled', 'The user declined or did not answer. Nothing was changed.'],
  interrupted: ['cancelled', 'The process exited during the call or task, which may have taken effect.'],
  task_expired: ['timeout', 'The task exceeded the time limit for tasks.'],
  invalid_usage: ['config', 'The command line has an unknown command or flag, or an invalid value (exit code 2).'],
  invalid_config: ['config', "The program can't start with this configuration (exit code 78)."],
  unavailable: ['upstream', 'A file, service or disk that Carrel needs is currently unavailable (exit code 69).'],
  storage_full: ['upstream', 'The disk or its quota is full. Reads and deletions still work.'],
  storage_read_only: [
    'upstream',
    'The database is read-only. Check the file mode and the mount. A PostgreSQL server may be a standby.',
  ],
  storage_busy: ['limit', 'Another process kept the database locked for too long. Try again.'],
  storage_corrupt: ['config', 'The file is damaged or not a database. Restore a backup.'],
  storage_lost: ['config', 'The database file was moved, deleted or replaced. Put it back or restore a backup.'],
  storage_foreign: ['config', 'The database belongs to another program.'],
  storage_newer: ['config', 'A later version of Carrel wrote the database. Upgrade Carrel.'],
  storage_older: [
    'config',
    'A development version wrote the database. Export the data with that version, then import it.',
  ],
  storage_not_empty: ['input', 'The database to restore into is not empty. `--force` replaces its content.'],
  invalid_backup: ['input', 'The file is not a backup, or is damaged or truncated.'],
  query_timeout: ['timeout', 'A database query took too long and was stopped.'],
  entry_not_found: ['not_found', 'No context entry has this id, or it was deleted.'],
  idempotency_conflict: ['input', 'An earlier call used this `idempotency_key` with other arguments.'],
  invalid_import: ['input', 'The file to import is damaged or in an unknown format.'],
  fess_error: ['upstream', 'Fess answered with an error or unusable data. Data: `httpStatus`, `endpoint`, `errorId`.'],
  fess_unreachable: ['upstream', 'Fess did not answer. Data: `httpStatus` (null).'],
  fess_timeout: ['timeout', 'Fess took longer than `fessRequestTimeoutMs`.'],
  content_changed: ['input', 'The text has changed since the cursor was issued. Read it again from the start.'],
  content_fetch_disabled: ['forbidden', "Fess's index lacks the document's text, and `contentFetch.enabled` is false."],
  pdf_disabled: ['forbidden', 'The document is a PDF, and `contentFetch.enablePdf` is false.'],
  content_unavailable: ['upstream', "The document's URL answered with an error status (400 or higher)."],
  engine_unreachable: ['upstream', 'The knowledge base engine does not answer. Check the engine and `KB_ENGINE_URL`.'],
  engine_timeout: ['timeout', 'The knowledge base engine took longer than `KB_ENGINE_TIMEOUT_MS`.'],
  engine_unauthorized: ['upstream', 'The knowledge base engine requires `KB_API_KEY`, or rejects its value.'],
  engine_error: ['upstream', 'The engine answered with an error or an unusable result. Data: `httpStatus`.'],
  document_not_found: ['not_found', 'No document has this id, or it was deleted.'],
  collection_not_found: [
    'not_found',
    'There is no such collection. Data: `collection`, `collections` (the existing ones).',
  ],
  not_a_note: ['input', 'The document is a file. Only the text of notes can be replaced.'],
  duplicate: ['input', 'A document with the same bytes already exists. Data: `document_id`, `title`.'],
  empty_selection: ['input', 'The bulk operation does not say which documents to change.'],
  safety_threshold_exceeded: [
    'limit',
    'Too many documents would change. Pass `force`, or raise `KB_BULK_SAFETY_PERCENT`.',
  ],
  unsupported_media_type: ['input', 'The API does not accept this Content-Type.'],
  malformed_body: ['input', 'The body is not valid JSON or form data, or is incomplete.'],
  upload_not_found: ['not_found', 'This caller has no upload with this id, or it has expired.'],
  upload_conflict: [
    'input',
    'The upload is finished or in use, a chunk was resent with other bytes, or the file changed.',
  ],
  upload_incomplete: ['input', 'Not all bytes have arrived. Data: `missing_chunks`, `received_bytes`, `total_size`.'],
  upload_too_large: ['limit', 'The upload has more bytes than `KB_UPLOAD_BYTES_MAX` or its `total_size`.'],
  upload_quota: ['limit', 'Too many unfinished uploads, or too many bytes in them, for this caller or in total.'],
  path_not_allowed: [
    'forbidden',
    "Paths must be below the client's roots or `KB_ALLOWED_ROOTS`. Over HTTP, paths don't work.",
  ],
  internal: ['internal', 'A bug in Carrel. The message has an incident id. Look for it in the log.'],
} as const satisfies Record<string, readonly [kind: ErrorKind, when: string]>;

export type ErrorCode = keyof typeof errorCodes;

export interface ErrorOptions {
  /** The underlying error. Goes to the log only. */
  cause?: unknown;
  /** Facts for the caller. They must not contain secrets or external text. */
  data?: Record<string, unknown>;
  retryAfterSeconds?: number;
}

/** An error for callers. Its message must not quote external text, because a model reads it; that belongs in `cause`. */
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
    return errorCodes[this.code][0];
  }
}

export function isCarrelError(error: unknown): error is CarrelError {
  return error instanceof CarrelError;
}

/** Returns the system's error code, such as ENOENT; undefined for Carrel's own errors. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && !isCarrelError(error) && 'code' in error ? String(error.code) : undefined;
}
