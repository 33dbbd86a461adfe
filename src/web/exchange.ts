import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CarrelError } from '../base/errors.ts';

export type FetchMethod = 'GET' | 'HEAD';

/** Everything that is ever sent. No credentials of the caller or this server. */
export interface RequestHeaders {
  host: string;
  'user-agent': string;
  accept: string;
  'accept-language': string;
  'accept-encoding': string;
  'if-none-match'?: string;
  'if-modified-since'?: string;
}

/** Sends one request over a dedicated connection and resolves with the head of the answer. */
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
      // A body without a length ends when its connection closes. Node takes a broken connection for that end, so the error is
      // passed on here, unless the body is already complete.
      outgoing.on('error', (error) => {
        if (!response.complete) response.destroy(error);
      });
      resolve(response);
    });
    outgoing.end();
  });
}

/** The headers that describe the page. Cookies and others stop here. */
export function pageHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = headers[name];
    if (typeof value === 'string')
      result[name] = value.replace(/[^\t\x20-\x7e\x80-\uffff]/g, '').slice(0, headerCharactersMax);
  }
  return result;
}

/** Printable ASCII only: anything else could end the line and start another header. */
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
/** Each 1xx answer resets the parser's count of header bytes, so limit their number. */
const interimAnswersMax = 8;

const keptHeaders = [
  'age',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
  'x-robots-tag',
] as const;
