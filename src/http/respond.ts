import type { ServerResponse } from 'node:http';

/** On every answer: nothing here is for caches, and nothing is to be guessed from its bytes. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  respondText(response, status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function respondText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...commonHeaders, 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

export function respondEmpty(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...commonHeaders, ...headers });
  response.end();
}

/** Refuses before the body was read: the connection can't be used again, because the rest of the body is still on it. */
export function refuseUnread(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  respondJson(response, status, body, { connection: 'close', ...headers });
}
