import { isUtf8 } from 'node:buffer';
import { answerBytesDefault } from '../../answers/answer-limit.ts';
import {
  closeBrace,
  closeBracket,
  endOfString,
  exceededBound,
  type JsonBounds,
  openBrace,
  openBracket,
  quote,
} from '../../base/bounded-json.ts';
import { mayHaveLong, parseExact } from '../../base/exact-json.ts';
import { isObject } from '../../base/json.ts';
import { metaKeys } from '../protocol-versions.ts';
import { internalFailure, RpcError, rpcCodes } from '../wire-errors.ts';

/** A request's id as the client sent it, plus a key that distinguishes `1` from `"1"`. */
export interface WireId {
  key: string;
  /** The id to send back unchanged. Integers too large for a JavaScript number are kept as raw JSON. */
  value: string | number | object;
}

export type Incoming =
  | { kind: 'request'; id: WireId; method: string; params: Record<string, unknown> | undefined }
  | { kind: 'notification'; method: string; params: Record<string, unknown> | undefined }
  | { kind: 'response'; message: Record<string, unknown> }
  | { kind: 'invalid'; id: WireId | null; code: number; problem: string };

export type ParsedText =
  | { ok: true; batch: boolean; incoming: Incoming[]; parsed: unknown }
  | { ok: false; id: WireId | null; code: number; problem: string };

export interface MessageLimits extends JsonBounds {
  /** Max bytes per message: an HTTP body or a line on stdio. */
  bytesMax: number;
  batchMax: number;
  /** Max bytes of a batch's answers. */
  answerBytesMax: number;
}

export const messageLimits: MessageLimits = {
  bytesMax: 4 * 1024 * 1024,
  depthMax: 128,
  elementsMax: 100_000,
  batchMax: 100,
  answerBytesMax: answerBytesDefault,
};

/** Max UTF-16 units of an id. It is repeated in the answer, whose length is bounded. */
const idUnitsMax = 20_000;
/** Length of an escaped character: \uXXXX. */
const escapeUnits = 6;

/** Parses one message or batch. Rejects invalid UTF-8: replacement characters would change the message. */
export function readMessageBytes(bytes: Buffer, limits: MessageLimits): ParsedText {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return parseMessages(text, limits);
  const id = idOf(text);
  const intactId = typeof id?.value === 'string' && id.value.includes('\ufffd') ? null : id;
  return {
    ok: false,
    id: intactId,
    code: rpcCodes.parseError,
    problem: 'Parse error: the message is not valid UTF-8.',
  };
}

/** Parses one message or batch. Checks nesting and number of elements first, so that malicious JSON is not parsed. */
export function parseMessages(text: string, limits: MessageLimits): ParsedText {
  const excess = excessProblem(text, limits);
  if (excess !== undefined) return { ok: false, id: idOf(text), code: rpcCodes.invalidRequest, problem: excess };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
    keepExactArguments(parsed, text);
  } catch {
    return { ok: false, id: null, code: rpcCodes.parseError, problem: 'Parse error: the message is not valid JSON.' };
  }
  if (!Array.isArray(parsed)) return { ok: true, batch: false, incoming: [readMessage(parsed, text)], parsed };
  if (parsed.length === 0) {
    return { ok: false, id: null, code: rpcCodes.invalidRequest, problem: 'Invalid request: the batch is empty.' };
  }
  if (parsed.length > limits.batchMax) {
    const problem = `Invalid request: a batch may have at most ${limits.batchMax} messages, and this one has ${parsed.length}.`;
    return { ok: false, id: null, code: rpcCodes.invalidRequest, problem };
  }
  return { ok: true, batch: true, incoming: parsed.map((item) => readMessage(item, undefined)), parsed };
}

/**
 * Keeps all digits of large integers in tool arguments, so that stored values come back unchanged. The rest of the message is
 * parsed as usual.
 */
function keepExactArguments(parsed: unknown, text: string): void {
  if (!mayHaveLong(text)) return;
  const exact = [parseExact(text)].flat();
  for (const [index, message] of [parsed].flat().entries()) {
    const original = exact[index];
    if (!isObject(message) || !isObject(original) || message['method'] !== 'tools/call') continue;
    const { params } = message;
    if (isObject(params) && isObject(original['params'])) params['arguments'] = original['params']['arguments'];
  }
}

/** Builds the answer once the result or error is known. */
export async function answerOf(id: WireId, result: Promise<object>): Promise<object> {
  try {
    return { result: await result, jsonrpc: '2.0', id: id.value };
  } catch (thrown) {
    const { code, message, data } = thrown instanceof RpcError ? thrown : internalFailure;
    return errorAnswer(id, code, message, data);
  }
}

export function errorAnswer(id: WireId | null, code: number, problem: string, data?: unknown): object {
  return {
    jsonrpc: '2.0',
    id: id === null ? null : id.value,
    error: { code, message: problem, ...(data ? { data } : {}) },
  };
}

/** Returns the id as text, for logs and traces. */
export function idText({ key }: WireId): string {
  return key.slice(2);
}

function readMessage(message: unknown, text: string | undefined): Incoming {
  if (!isObject(message)) return invalid(null, 'a message must be a JSON object');
  const id = readId(message['id'], text);
  if (message['jsonrpc'] !== '2.0') return invalid(id ?? null, 'jsonrpc must be "2.0"');
  const { method, params } = message;
  if (method === undefined && ('result' in message || 'error' in message)) {
    return id === undefined ? invalid(null, 'a response needs the id of its request') : { kind: 'response', message };
  }
  if (typeof method !== 'string') return invalid(id ?? null, 'method must be a string');
  if ('id' in message && id === undefined)
    return invalid(null, `id must be a string of at most ${idUnitsMax} characters, or an integer`);
  if (params !== undefined && !isObject(params)) {
    const problem = 'Invalid params: params must be an object.';
    return { kind: 'invalid', id: id ?? null, code: rpcCodes.invalidParams, problem };
  }
  const fields = params as Record<string, unknown> | undefined;
  if (id === undefined) return { kind: 'notification', method, params: fields };
  // Some clients send null for omitted fields.
  if (fields?.['_meta'] === null) delete fields['_meta'];
  if (fields?.['_meta'] !== undefined && !isMeta(fields['_meta'])) {
    const problem = 'Invalid params: _meta must be an object, and its progressToken a string or an integer.';
    return { kind: 'invalid', id, code: rpcCodes.invalidParams, problem };
  }
  return { kind: 'request', id, method, params: fields };
}

/** Checks `_meta` by the specification's schema. */
function isMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false;
  const { progressToken: token, [metaKeys.relatedTask]: task } = meta;
  const isToken = token === undefined || typeof token === 'string' || Number.isSafeInteger(token);
  return isToken && (task === undefined || (isObject(task) && typeof task['taskId'] === 'string'));
}

function invalid(id: WireId | null, problem: string): Incoming {
  return { kind: 'invalid', id, code: rpcCodes.invalidRequest, problem: `Invalid request: ${problem}.` };
}

function readId(value: unknown, text: string | undefined): WireId | undefined {
  if (typeof value === 'string') return value.length > idUnitsMax ? undefined : { key: `s:${value}`, value };
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  if (Number.isSafeInteger(value)) return { key: `n:${value}`, value };
  const source = text === undefined ? undefined : sourceOfId(text);
  return source === undefined ? { key: `n:${value}`, value } : { key: `n:${source}`, value: JSON.rawJSON(source) };
}

/** Returns the raw text of an `id` that is too large for a JavaScript number. Parses the message again. */
function sourceOfId(text: string): string | undefined {
  const sources = new Map<unknown, string | undefined>();
  const root: unknown = JSON.parse(text, function remember(this: unknown, key, value, context?: { source?: string }) {
    if (key === 'id' && typeof value === 'number') sources.set(this, context?.source);
    return value;
  });
  const source = sources.get(root);
  return source !== undefined && /^-?\d+$/.test(source) ? source : undefined;
}

function excessProblem(text: string, limits: MessageLimits): string | undefined {
  const bound = exceededBound(text, limits);
  if (bound === undefined) return undefined;
  return bound === 'depth'
    ? `Invalid request: nested deeper than ${limits.depthMax} levels.`
    : `Invalid request: more than ${limits.elementsMax} elements.`;
}

/** Extracts the id of an unparsed message, so that its sender gets an answer. */
function idOf(text: string): WireId | null {
  if (!text.trimStart().startsWith('{')) return null;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === quote) {
      const start = index;
      index = endOfString(text, index);
      if (depth !== 1 || text.slice(start, index + 1) !== '"id"') continue;
      const id = idAt(text, index + 1);
      if (id !== undefined) return id;
    } else if (char === openBracket || char === openBrace) depth += 1;
    else if (char === closeBracket || char === closeBrace) depth -= 1;
  }
  return null;
}

/** Reads the id after its key. */
function idAt(text: string, start: number): WireId | undefined {
  const [separator = ''] = /^\s{0,100}:\s{0,100}/.exec(text.slice(start, start + 201)) ?? [];
  const first = start + separator.length;
  if (separator === '') return undefined;
  if (text.charCodeAt(first) !== quote) {
    const [, digits] = /^(-?\d{1,15})\s*[,}]/.exec(text.slice(first, first + 100)) ?? [];
    return digits === undefined ? undefined : readId(Number(digits), undefined);
  }
  const end = endOfString(text, first) + 1;
  if (end - first > idUnitsMax * escapeUnits + 2) return undefined;
  try {
    return readId(JSON.parse(text.slice(first, end)), undefined);
  } catch {
    return undefined;
  }
}
