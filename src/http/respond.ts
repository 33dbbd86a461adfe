import type { ServerResponse } from 'node:http';

/** Headers of every answer: no caching, no content type sniffing. */
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

/**
 * Refuses a request whose body was not read, and closes the connection. Reads and drops incoming data for a moment: closing at
 * once would reset the connection, and the client would not see the answer.
 */
export function refuseUnread(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...commonHeaders,
    'content-type': 'application/json',
    'content-length': bytes.length,
    connection: 'close',
    ...headers,
  });
  response.write(bytes);
  const { req: request } = response;
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, lingerMs);
  let dropped = 0;
  request.on('data', (part: Buffer) => {
    dropped += part.length;
    if (dropped > lingerBytesMax) finish();
  });
  request.on('end', finish);
  request.on('close', finish);
}

const lingerMs = 1_000;
const lingerBytesMax = 16 * 1024 * 1024;
