import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CarrelError } from '../base/errors.ts';

export type FetchMethod = 'GET' | 'HEAD';

/** All headers that are ever sent. They contain no credentials of the caller or of this server. */
export interface RequestHeaders {
  host: string;
  'user-agent': string;
  accept: string;
  'accept-language': string;
  'accept-encoding': string;
  'if-none-match'?: string;
  'if-modified-since'?: string;
}

/** Sends one request over its own connection. Resolves when the head of the answer has arrived. */
export function exchange(
  socket: Socket,
  request: { method: FetchMethod; path: string; headers: RequestHeaders },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      ...request,
      headers: { ...request.headers },
      createConnection: () => socket,
      maxHeaderSize: headerBytesMax,
      insecureHTTPParser: false,
      signal,
    });
    let interimAnswers = 0;
    outgoing.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > interimAnswersMax) outgoing.destroy(failure('HPE_INTERIM', 'too many interim answers'));
    });
    outgoing.on('error', reject);
    outgoing.on('close', () => reject(failure('ECONNRESET', 'closed before an answer')));
    outgoing.on('response', (response) => {
      // A body without a length ends when its connection closes. Node treats a broken connection as that end, so the error is
      // passed on here, unless the body is already complete.
      outgoing.on('error', (error) => {
        if (!response.complete) response.destroy(error);
      });
      resolve(response);
    });
    outgoing.end();
  });
}

/** Returns the headers that describe the page. Drops cookies and all others. */
export function pageHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of pageHeaderNames) {
    const value = headers[name];
    if (typeof value === 'string')
      result[name] = value.replace(/[^\t\x20-\x7e\x80-\uffff]/g, '').slice(0, headerCharactersMax);
  }
  return result;
}

/** True for printable ASCII. Other characters could end the line and start another header. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]{1,1024}$/.test(value);
}

export function checkHeaderValue(
  name: string,
  value: string,
  code: 'invalid_arguments' | 'invalid_config' = 'invalid_arguments',
): string {
  if (isHeaderValue(value)) return value;
  throw new CarrelError(code, `${name} must be 1 to 1024 printable ASCII characters.`);
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const headerBytesMax = 32 * 1024;
const headerCharactersMax = 1024;
/** Max 1xx answers. Each of them resets the parser's count of header bytes, so their number must be limited. */
const interimAnswersMax = 8;

const pageHeaderNames =
  'age cache-control content-disposition content-language content-length content-type date etag expires last-modified retry-after vary x-robots-tag'.split(
    ' ',
  );
