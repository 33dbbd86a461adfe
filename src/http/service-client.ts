import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { systemCode } from '../base/errors.ts';

export interface ServiceClientConfig {
  /** Scheme, host and base path of the service, as configured. */
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Max bytes of an answer. Longer answers are refused without reading them to the end. */
  answerBytesMax: number;
}

export interface ServiceRequest {
  method: string;
  /** Relative to the base URL, starting with a slash. */
  path: string;
  query?: URLSearchParams | undefined;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | ServiceStream | undefined;
  signal?: AbortSignal | undefined;
  /** Overrides the client's limit for this answer. */
  answerBytesMax?: number | undefined;
  /**
   * True if the request may be sent twice. It then uses an open connection if there is one, and is repeated on a new one if the
   * service was just closing it. Other requests always use a new connection, so that they are never sent twice.
   */
  repeatable?: boolean;
}

/** A body too large for memory. The timeout applies to each pause in the transfer. */
export interface ServiceStream {
  content: AsyncIterable<Uint8Array>;
  /** Number of bytes. Undefined if unknown: the body is then sent with chunked encoding. */
  size: number | undefined;
}

export interface ServiceAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ServiceContent extends Omit<ServiceAnswer, 'body'> {
  /** Must be read to the end or ended with `return()`, or the connection stays open. */
  content: AsyncGenerator<Uint8Array, void, undefined>;
}

export type ServiceFault = 'unreachable' | 'timeout' | 'cancelled' | 'too_large' | 'incomplete';

export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
  readonly fault: ServiceFault;
  /** HTTP status of the unusable answer; null if there was no answer. */
  readonly status: number | null;

  constructor(fault: ServiceFault, options: { cause?: unknown; status?: number | undefined } = {}) {
    super(`service: ${fault}`, { cause: options.cause });
    this.fault = fault;
    this.status = options.status ?? null;
  }
}

/**
 * Creates a client for one configured service. It follows no redirects, so that credentials and texts go only to that service.
 * Throws a `ServiceFailure` on every failure.
 */
export function createServiceClient(config: ServiceClientConfig) {
  const base = new URL(config.baseUrl);
  const transport = base.protocol === 'https:' ? https : http;
  const agent = new transport.Agent({ keepAlive: true, maxFreeSockets: 16, scheduling: 'lifo' });

  const start = (call: ServiceRequest, isNewConnection: boolean): http.ClientRequest => {
    const url = new URL(base);
    url.username = '';
    url.password = '';
    url.pathname = `${base.pathname.replace(/\/+$/, '')}${call.path}`;
    url.search = call.query?.toString() ?? '';
    const length = lengthOf(call.body);
    return transport.request(url, {
      method: call.method,
      agent: isNewConnection ? false : agent,
      headers: {
        ...config.headers,
        ...call.headers,
        ...(length === undefined ? {} : { 'content-length': length }),
      },
    });
  };

  /** Sends a request. If the service has just closed a reused connection, retries once on a new one. */
  const exchange = async (call: ServiceRequest, watch: Watch): Promise<IncomingMessage> => {
    for (let isNewConnection = call.repeatable !== true; ; isNewConnection = true) {
      const request = start(call, isNewConnection);
      watch.setClose(() => request.destroy());
      try {
        return await answerOf(request, call.body, watch);
      } catch (error) {
        if (watch.failure !== undefined) throw watch.failure;
        if (error instanceof SourceError) throw error.cause;
        if (isNewConnection || !request.reusedSocket || !isReset(error))
          throw new ServiceFailure('unreachable', { cause: error });
      }
    }
  };

  return {
    async request(call: ServiceRequest): Promise<ServiceAnswer> {
      const watch = startWatch(config.timeoutMs, call.signal);
      try {
        const response = await exchange(call, watch);
        const body = await readAll(response, call.answerBytesMax ?? config.answerBytesMax, watch);
        // The service may have answered before it read the whole body, so the connection can't be reused.
        if (call.body !== undefined && 'content' in call.body) response.destroy();
        return { status: response.statusCode ?? 0, headers: response.headers, body };
      } finally {
        watch.stop();
      }
    },
    /** Returns an answer whose body the caller reads. The timeout applies to each pause in the transfer. */
    async open(call: ServiceRequest): Promise<ServiceContent> {
      const watch = startWatch(config.timeoutMs, call.signal);
      try {
        const response = await exchange(call, watch);
        return { status: response.statusCode ?? 0, headers: response.headers, content: readParts(response, watch) };
      } catch (error) {
        watch.stop();
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

/** Ends an exchange when its timeout passes or its caller cancels. */
interface Watch {
  /** Sets the function that closes the connection. Calls it at once if the exchange has already ended. */
  setClose(close: () => void): void;
  /** Restarts the timeout. Call when data was transferred. */
  transferred(): void;
  readonly failure: ServiceFailure | undefined;
  stop(): void;
}

function startWatch(timeoutMs: number, signal: AbortSignal | undefined): Watch {
  let close: (() => void) | undefined;
  let failure: ServiceFailure | undefined;
  const end = (fault: ServiceFault): void => {
    failure ??= new ServiceFailure(fault);
    close?.();
  };
  const cancel = (): void => end('cancelled');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted === true) cancel();
  return {
    setClose(next) {
      close = next;
      if (failure !== undefined) next();
    },
    transferred: () => void timer.refresh(),
    get failure() {
      return failure;
    },
    stop() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
}

/** Thrown if the request's body could not be read, which is not the service's fault. */
class SourceError extends Error {}

function answerOf(request: http.ClientRequest, body: ServiceRequest['body'], watch: Watch): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    request.once('response', (response) => {
      isAnswered = true;
      // A body without a length ends when its connection closes. Node also treats a broken connection as this end, so the error
      // is passed on here, unless the body is already complete.
      request.on('error', (error) => {
        if (!response.complete) response.destroy(error);
      });
      resolve(response);
    });
    // This listener stays, because an error after the response would otherwise be unhandled.
    request.on('error', reject);
    request.once('close', () => reject(new Error('closed without an answer')));
    if (body === undefined || !('content' in body)) {
      request.end(body);
      return;
    }
    sendStream(request, body.content, watch, () => isAnswered).catch((error: unknown) => {
      reject(new SourceError('the body could not be read', { cause: error }));
      request.destroy();
    });
  });
}

async function sendStream(
  request: http.ClientRequest,
  content: AsyncIterable<Uint8Array>,
  watch: Watch,
  isAnswered: () => boolean,
): Promise<void> {
  for await (const part of content) {
    if (request.destroyed || isAnswered()) return;
    watch.transferred();
    if (!request.write(part)) await drained(request);
  }
  request.end();
}

function drained(request: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'response']) request.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'response']) request.on(event, done);
  });
}

function lengthOf(body: ServiceRequest['body']): number | undefined {
  return body !== undefined && 'content' in body ? body.size : body?.length;
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(systemCode(error) ?? '');
}

async function readAll(response: IncomingMessage, bytesMax: number, watch: Watch): Promise<Buffer> {
  const parts: Buffer[] = [];
  const status = response.statusCode;
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length;
      // Leaving the loop destroys the response and its connection.
      if (bytes > bytesMax) throw new ServiceFailure('too_large', { status });
      parts.push(part);
    }
  } catch (error) {
    if (watch.failure !== undefined) throw watch.failure;
    throw error instanceof ServiceFailure ? error : new ServiceFailure('incomplete', { cause: error, status });
  }
  if (watch.failure !== undefined) throw watch.failure;
  return Buffer.concat(parts);
}

async function* readParts(response: IncomingMessage, watch: Watch): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      watch.transferred();
      yield part;
    }
    if (watch.failure !== undefined) throw watch.failure;
  } catch (error) {
    throw watch.failure ?? new ServiceFailure('incomplete', { cause: error, status: response.statusCode });
  } finally {
    watch.stop();
    response.destroy();
  }
}
