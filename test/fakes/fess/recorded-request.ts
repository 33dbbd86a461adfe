import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

export interface RecordedRequest {
  method: string;
  /** Path and query as received. */
  target: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Resolves when the exchange is over: answered in full, or closed early by the caller. */
  finished: Promise<'answered' | 'closed'>;
}

export function recordRequest(message: IncomingMessage, response: ServerResponse): RecordedRequest {
  const target = message.url ?? '/';
  const { pathname, searchParams } = new URL(target, 'http://recorded.invalid');
  return {
    method: message.method ?? 'GET',
    target,
    path: pathname,
    query: searchParams,
    headers: message.headers,
    finished: new Promise((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'answered' : 'closed'));
    }),
  };
}
