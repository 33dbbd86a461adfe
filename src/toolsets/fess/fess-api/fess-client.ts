import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { CarrelError } from '../../../base/errors.ts';
import { fessError, fessTimeout, fessUnreachable } from './fess-errors.ts';

export interface FessClientConfig {
  /** Scheme, host and context path of the server, as the operator wrote it. */
  baseUrl: string;
  accessToken?: string;
  userAgent: string;
  timeoutMs: number;
  /** Longer answers are refused before they are read to the end. */
  answerBytesMax?: number;
}

export interface FessResponse {
  status: number;
  contentType: string;
  location: string | undefined;
  retryAfter: string | undefined;
  body: Buffer;
  /** The path below the base URL, which is all that a caller may learn of where Fess is. */
  endpoint: string;
}

export interface FessClient {
  /** One GET. Follows no redirect, so that the token and the answer stay with the configured server. */
  get(endpoint: string, params: URLSearchParams, options?: FessRequestOptions): Promise<FessResponse>;
  close(): void;
}

export interface FessRequestOptions {
  signal?: AbortSignal;
  bytesMax?: number;
}

const answerBytesMaxDefault = 32 * 1024 * 1024;

export function createFessClient(config: FessClientConfig): FessClient {
  const base = new URL(config.baseUrl);
  const transport = base.protocol === 'https:' ? https : http;
  const agent = new transport.Agent({ keepAlive: true, maxFreeSockets: 16, scheduling: 'lifo' });
  const headers = requestHeaders(base, config);
  const bytesMaxDefault = config.answerBytesMax ?? answerBytesMaxDefault;

  return {
    async get(endpoint, params, options = {}) {
      const url = new URL(base);
      url.username = '';
      url.password = '';
      url.pathname = `${base.pathname.replace(/\/+$/, '')}${endpoint}`;
      url.search = params.toString();
      const bytesMax = options.bytesMax ?? bytesMaxDefault;
      return withDeadline(endpoint, config.timeoutMs, options.signal, async (stop) => {
        const start = (fresh: boolean) => transport.request(url, { agent: fresh ? false : agent, headers });
        const response = await exchange(start, stop, endpoint);
        return readResponse(response, endpoint, bytesMax);
      });
    },
    close: () => agent.destroy(),
  };
}

function requestHeaders(base: URL, { accessToken, userAgent }: FessClientConfig): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/html;q=0.5, */*;q=0.1',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
  const login = `${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`;
  if (accessToken !== undefined) headers['authorization'] = `Bearer ${accessToken}`;
  else if (base.username !== '') headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  return headers;
}

/** How a running exchange is stopped by the deadline or the caller. */
interface Stop {
  /** Replaces what closes the connection; called at once if it is over already. */
  setClose(close: () => void): void;
  isOver(): boolean;
}

async function withDeadline<T>(
  endpoint: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (stop: Stop) => Promise<T>,
): Promise<T> {
  let close: (() => void) | undefined;
  let why: CarrelError | undefined;
  const end = (error: CarrelError) => {
    why ??= error;
    close?.();
  };
  const cancelled = () => end(new CarrelError('cancelled', 'The call was cancelled.'));
  const timer = setTimeout(() => end(fessTimeout(endpoint, timeoutMs)), timeoutMs);
  signal?.addEventListener('abort', cancelled, { once: true });
  try {
    if (signal?.aborted === true) cancelled();
    if (why !== undefined) throw why;
    return await run({
      setClose(next) {
        close = next;
        if (why !== undefined) next();
      },
      isOver: () => why !== undefined,
    });
  } catch (error) {
    throw why ?? error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancelled);
  }
}

/** A kept connection may have been closed by the server just now: that one failure is tried again on a fresh one. */
async function exchange(
  start: (fresh: boolean) => http.ClientRequest,
  stop: Stop,
  endpoint: string,
): Promise<IncomingMessage> {
  for (const isSecond of [false, true]) {
    const request = start(isSecond);
    stop.setClose(() => request.destroy());
    try {
      return await responseOf(request);
    } catch (error) {
      if (isSecond || stop.isOver() || !request.reusedSocket || !isReset(error)) throw fessUnreachable(endpoint, error);
    }
  }
  throw fessUnreachable(endpoint, undefined);
}

function responseOf(request: http.ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays for good: an error after the response is also reported on the response, and must not be unhandled here.
    request.on('error', reject);
    request.once('close', () => reject(new Error('closed without an answer')));
    request.end();
  });
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

async function readResponse(response: IncomingMessage, endpoint: string, bytesMax: number): Promise<FessResponse> {
  const status = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the response and with it the connection.
      if (bytes > bytesMax) throw fessError('answer_too_large', { endpoint, httpStatus: status });
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CarrelError) throw error;
    throw fessError('answer_incomplete', { endpoint, httpStatus: status, cause: error });
  }
  return {
    status,
    contentType: response.headers['content-type'] ?? '',
    location: response.headers.location,
    retryAfter: response.headers['retry-after'],
    body: Buffer.concat(chunks),
    endpoint,
  };
}
