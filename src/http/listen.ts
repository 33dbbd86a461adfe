import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CarrelError } from '../base/errors.ts';
import { type ConnectionLimits, limitConnections } from './connections.ts';
import { createUnsentLimit, createWatchedResponse } from './unsent-limit.ts';

export interface HttpListener {
  /** The origin with the actual port. */
  readonly origin: string;
  connections(): number;
  /** Stops accepting and closes open connections after the grace period. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly limits?: Partial<ListenLimits>;
  /** Called on an error of the listening socket, such as a connection that the system could not accept. Serving continues. */
  onError(error: Error): void;
  /** Called when a connection is refused because there are too many. */
  onRefused?(): void;
  /** Returns the max time for this request's body, if it is not the default. */
  bodyTimeoutMs?(request: IncomingMessage): number | undefined;
}

export interface ListenLimits extends ConnectionLimits {
  /** Max bytes of unread answers, over all connections. */
  readonly unsentBytesMax: number;
  /** Max time for a client to send the headers of a request. */
  readonly headersTimeoutMs: number;
  /** Default max time for a client to send the body. */
  readonly bodyTimeoutDefaultMs: number;
  /** Time after which a client that does not read its answer is disconnected. It may take up to twice as long. */
  readonly unreadMs: number;
}

export const listenLimits: ListenLimits = {
  connectionsMax: 2_000,
  perAddressMax: 500,
  unsentBytesMax: 32 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  bodyTimeoutDefaultMs: 30_000,
  unreadMs: 15_000,
};

/** Max time for the body of an upload: a large file over a slow connection. */
export const fileTimeoutMs = 30 * 60_000;

export async function listen(
  host: string,
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { bodyTimeoutMs, onError, onRefused, limits }: ListenOptions,
): Promise<HttpListener> {
  const bounds = { ...listenLimits, ...limits };
  const { headersTimeoutMs, bodyTimeoutDefaultMs, unreadMs } = bounds;
  const busy = new WeakSet<Socket>();
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      // Off, because Node has only one limit for all requests. `limitBodyTime` sets one per request.
      requestTimeout: 0,
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: headersTimeoutMs / 2,
      maxHeaderSize: 32 * 1024,
      ServerResponse: createWatchedResponse(createUnsentLimit(bounds.unsentBytesMax)),
    },
    (request, response) => {
      const { socket } = request;
      busy.add(socket);
      const release = connections.markBusy(socket);
      response.once('close', () => {
        busy.delete(socket);
        release();
      });
      limitBodyTime(request, bodyTimeoutMs?.(request) ?? bodyTimeoutDefaultMs);
      handle(request, response);
    },
  );
  const connections = limitConnections(server, bounds, onRefused);
  server.timeout = unreadMs;
  server.on('timeout', (socket) => {
    // A socket without traffic stays open only while a request is running and no answer is waiting to be sent.
    if (busy.has(socket) && socket.writableLength === 0) socket.setTimeout(unreadMs);
    else socket.destroy();
  });
  server.on('connect', (_request, socket) => socket.destroy());
  await bind(server, host, port);
  // An unhandled error event would end the program.
  server.on('error', onError);
  return {
    origin: `http://${formatAddress(server.address() as AddressInfo, host)}`,
    connections: connections.count,
    close: (graceMs) => closeServer(server, graceMs),
  };
}

/** Disconnects a request whose body takes too long. */
function limitBodyTime(request: IncomingMessage, timeoutMs: number): void {
  if (request.complete) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, timeoutMs);
  const stop = (): void => clearTimeout(timer);
  request.once('end', stop);
  request.once('close', stop);
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port));
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): CarrelError {
  const address = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    const message = `Port ${port} on ${host} is already in use. Stop the program that uses it, or choose another with --port.`;
    return new CarrelError('unavailable', message, { cause: error });
  }
  if (error.code === 'EACCES') {
    const message = `No permission to listen on ${address}. Choose a port above 1023 with --port.`;
    return new CarrelError('invalid_config', message, { cause: error });
  }
  const message = `Can't listen on ${address}: this machine has no such address. Check --host.`;
  return new CarrelError('invalid_config', message, { cause: error });
}

function formatAddress({ address, port }: AddressInfo, host: string): string {
  const hostname = host === 'localhost' ? address : host;
  return hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
