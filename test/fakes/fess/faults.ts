import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FessAnswer } from './fess-state.ts';
import { html } from './web-pages.ts';

/** A fault in an answer. `path` limits it to requests whose target contains this text, `times` to this many requests. */
export type Fault = FaultKind & { path?: string; times?: number };

export type FaultKind =
  /** 200 with an HTML page, like a proxy's login page. */
  | { kind: 'html' }
  | { kind: 'broken-json' }
  /** Valid JSON, but not an answer of Fess. */
  | { kind: 'foreign-json' }
  | { kind: 'redirect'; location?: string }
  | { kind: 'rate-limited'; retryAfterSeconds: number }
  | { kind: 'ip-blocked' }
  /** `withStack`: the message leaks the serialized query and host names, as with Fess's setting exception.included. */
  | { kind: 'error'; status: number; withStack?: boolean }
  /** Half of the body, then the connection closes. */
  | { kind: 'truncated' }
  /** Half of the body, then silence. */
  | { kind: 'stall' }
  /** No answer. */
  | { kind: 'hang' }
  | { kind: 'slow'; delayMs: number }
  /** The answer waits for `release()`. */
  | { kind: 'hold' }
  | { kind: 'reset' }
  /** A valid answer, padded to this size. */
  | { kind: 'huge'; bytes: number };

/** Text that must never reach a caller. Tests search messages and data for it. */
export const leakyText =
  'org.codelibs.fess.exception.SearchQueryException: failed on opensearch-0.internal:9201 [ at org.codelibs.fess.es.client(SearchEngineClient.java:1024) {"term":{"role":"Radmin"}} ]';

export async function sendFaulty(
  fault: Fault,
  answer: () => FessAnswer,
  response: ServerResponse,
  context: { errorKey: string; released: Promise<void> },
): Promise<void> {
  switch (fault.kind) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'slow':
      await delay(fault.delayMs);
      return send(response, answer());
    case 'hold':
      await context.released;
      return send(response, answer());
    case 'truncated':
    case 'stall':
      return sendHalf(response, answer(), fault.kind === 'truncated');
    case 'huge':
      return sendHuge(response, answer(), fault.bytes);
    default:
      return send(response, replacement(fault, context.errorKey));
  }
}

export function send(response: ServerResponse, answer: FessAnswer): void {
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
  });
  response.end(answer.body);
}

type ReplacingFault = Extract<
  Fault,
  { kind: 'html' | 'broken-json' | 'foreign-json' | 'redirect' | 'rate-limited' | 'ip-blocked' | 'error' }
>;

function replacement(fault: ReplacingFault, errorKey: string): FessAnswer {
  switch (fault.kind) {
    case 'html':
      return html(200, 'Sign in', `Please sign in. ${leakyText}`);
    case 'broken-json':
      return json(200, `{"q":"test","record_count":3,"data":[{"title":"${leakyText}`);
    case 'foreign-json':
      return json(200, JSON.stringify(['another', 'service']));
    case 'redirect': {
      const location = fault.location ?? '/error/notfound/?url=%2Fapi%2Fv1%2Fdocuments';
      return { status: 302, contentType: 'text/html', body: '', headers: { location } };
    }
    case 'rate-limited': {
      const body = {
        error: 'rate_limit_exceeded',
        message: 'Too many requests.',
        retry_after: fault.retryAfterSeconds,
      };
      const answer = json(429, JSON.stringify(body));
      return { ...answer, headers: { 'retry-after': String(fault.retryAfterSeconds) } };
    }
    case 'ip-blocked':
      return json(403, '{"error":"ip_blocked","message":"Access denied."}');
    case 'error': {
      const body = fault.withStack === true ? { message: leakyText } : { [errorKey]: randomUUID() };
      return json(fault.status, JSON.stringify(body));
    }
  }
}

function sendHalf(response: ServerResponse, answer: FessAnswer, close: boolean): void {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { 'content-type': answer.contentType, 'content-length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => {
    if (close) response.socket?.destroy();
  });
}

/** Sends the answer with many spaces at the end. The JSON stays valid, so that only its size is wrong. */
function sendHuge(response: ServerResponse, answer: FessAnswer, bytes: number): void {
  response.writeHead(answer.status, { 'content-type': answer.contentType });
  response.write(answer.body);
  const padding = Buffer.alloc(64 * 1024, ' ');
  let bytesLeft = bytes;
  const writeMore = () => {
    while (bytesLeft > 0 && !response.destroyed) {
      bytesLeft -= padding.length;
      if (!response.write(padding)) return void response.once('drain', writeMore);
    }
    response.end();
  };
  writeMore();
}

function json(status: number, body: string): FessAnswer {
  return { status, contentType: 'application/json; charset=UTF-8', body };
}
