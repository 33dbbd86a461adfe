import { parseBoundedJson } from '../../base/bounded-json.ts';
import { CarrelError, type ErrorCode } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { ServiceAnswer } from '../../http/service-client.ts';
import { ServiceFailure } from '../../http/service-client.ts';

type Body = Readonly<Record<string, unknown>>;

/** Error codes by HTTP status, for calls where a status has a specific meaning. */
export type ErrorCodes = Readonly<Record<number, ErrorCode>>;

/** Messages by code. The engine's own messages are never repeated: they may contain paths, hosts and stack traces. */
const messages: Partial<Record<ErrorCode, string>> = {
  document_not_found: 'No document has this id. kb_search, or kb_get with source_path, finds ids.',
  not_a_note: 'Only notes can be updated, and this document is a file. Upload its new version instead.',
  duplicate: 'Another document{existing} already has exactly this text. Nothing was changed.',
  job_not_found: 'No job has this id. kb_jobs lists the jobs.',
  safety_threshold_exceeded:
    'This would change more of all documents{share} than the safety threshold allows. Narrow the selection, or repeat with force if this is intended.',
  storage_full: "The engine's disk is full; nothing was stored. The operator must free some space.",
  upload_too_large:
    'The engine does not accept a file of this size. Split it, or ask the operator to raise KB_FILE_BYTES_MAX.',
  role_missing:
    'This kb engine does not have the role for this work (KB_ROLES). The operator must set KB_ENGINE_URL to an engine that does.',
  invalid_arguments: "The kb engine rejected the arguments. Check them against the tool's description.",
};

/** Converts a failed answer to an error. The error code of Carrel's engine takes precedence over the status. */
export function answerError(answer: ServiceAnswer, errorCodes: ErrorCodes): CarrelError {
  const { status: httpStatus } = answer;
  const cause = new Error(`engine: ${httpStatus} ${answer.body.toString('utf8', 0, 2000)}`);
  const value = parseBoundedJson(answer.body.toString('utf8'));
  const body = isObject(value) ? value : {};
  const code = namedCode(body) ?? errorCodes[httpStatus] ?? (httpStatus === 413 ? 'upload_too_large' : undefined);
  const message = code === undefined ? undefined : messages[code];
  if (code !== undefined && message !== undefined) {
    const facts = numbersOf(body);
    return new CarrelError(code, withNumbers(message, facts), { cause, data: { httpStatus, ...facts } });
  }
  if (httpStatus === 401 || httpStatus === 403) {
    const hint = "The kb engine refused access. The operator must check KB_API_KEY: it must be the engine's key.";
    return new CarrelError('engine_unauthorized', hint, { cause, data: { httpStatus } });
  }
  return new CarrelError('engine_error', statusMessage(httpStatus), {
    cause,
    data: { httpStatus },
    ...(httpStatus === 429 || httpStatus === 503 ? { retryAfterSeconds: retryAfter(answer) } : {}),
  });
}

/** Creates the error for a list with repeating pages or too many pages. */
export function endlessListError(): CarrelError {
  const message = 'The kb engine returns an endless list. The operator must check KB_ENGINE_URL.';
  return new CarrelError('engine_error', message, { data: { httpStatus: 200 } });
}

export function shapeError({ status, body }: ServiceAnswer): CarrelError {
  return new CarrelError(
    'engine_error',
    "The kb engine's answer was not understood. The operator must check KB_ENGINE_URL.",
    { cause: new Error(`engine: ${status} ${body.toString('utf8', 0, 2000)}`), data: { httpStatus: status } },
  );
}

export function failureError(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof ServiceFailure)) return error;
  const data = { httpStatus: error.status };
  switch (error.fault) {
    case 'cancelled':
      return new CarrelError('cancelled', 'The call was cancelled.');
    case 'timeout':
      return new CarrelError(
        'engine_timeout',
        `The kb engine did not answer within ${timeoutMs} ms. Try again; kb_jobs shows whether something was accepted.`,
        { data },
      );
    case 'unreachable':
      return new CarrelError(
        'engine_unreachable',
        'The kb engine is unreachable. Try again later; if it persists, the operator must check KB_ENGINE_URL and that the engine runs.',
        { cause: error.cause, data },
      );
    case 'too_large':
      return new CarrelError('engine_error', "The kb engine's answer is too large. Ask for fewer results.", { data });
    case 'incomplete':
      return new CarrelError('engine_error', "The kb engine's answer was truncated. Try again.", {
        cause: error.cause,
        data,
      });
  }
}

function statusMessage(status: number): string {
  if (status >= 300 && status < 400) {
    return 'The kb engine answered with a redirect, which is not followed. The operator must check KB_ENGINE_URL.';
  }
  if (status === 404) return 'The kb engine does not know this address. The operator must check KB_ENGINE_URL.';
  if (status === 429) return 'The kb engine is receiving too many requests. Try again later.';
  if (status === 503) return 'The kb engine is not ready. Try again in a moment.';
  if (status >= 500) return 'The kb engine failed. Try again; if it persists, the operator finds the cause in its log.';
  return 'The kb engine rejected the request. Check the arguments.';
}

/** Returns the error code that Carrel's engine sent, if there is a message for it here. */
function namedCode(body: Body): ErrorCode | undefined {
  const named = body['error'];
  return typeof named === 'string' && Object.hasOwn(messages, named) ? (named as ErrorCode) : undefined;
}

/** Puts the engine's numbers into the message, because a language model may see only the text. */
function withNumbers(message: string, { matched, total, document_id: existing }: Record<string, number>): string {
  const share = matched === undefined || total === undefined ? '' : ` (${matched} of ${total})`;
  return message.replace('{share}', share).replace('{existing}', existing === undefined ? '' : ` (${existing})`);
}

function numbersOf(body: Body): Record<string, number> {
  const names = ['matched', 'total', 'percent', 'threshold', 'document_id'];
  return Object.fromEntries(
    names.flatMap((name) => (typeof body[name] === 'number' ? [[name, body[name]] as const] : [])),
  );
}

function retryAfter({ headers }: ServiceAnswer): number {
  const seconds = Number(headers['retry-after']);
  return Number.isInteger(seconds) && seconds > 0 && seconds < 86_400 ? seconds : 5;
}
