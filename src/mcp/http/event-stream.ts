import type { ServerResponse } from 'node:http';
import { commonHeaders } from '../../http/respond.ts';

export type EventStream = ReturnType<typeof openEventStream>;

const keepAliveMs = 15_000;
/** Max unread bytes. A client that doesn't read is then disconnected; it can resume from its last event. */
const unreadBytesMax = 8 * 1024 * 1024;
const reconnectMs = 1_000;

/** Opens a response with server-sent events. */
export function openEventStream(response: ServerResponse, headers: Record<string, string>, onClose: () => void) {
  response.writeHead(200, {
    ...commonHeaders,
    'cache-control': 'no-store, no-transform',
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.flushHeaders();
  // A response stays writable after its client disconnects.
  const isOpen = (): boolean => response.writable && !response.destroyed;
  const write = (text: string): void => {
    if (!isOpen()) return;
    response.write(text);
    if (response.writableLength > unreadBytesMax) response.destroy();
  };
  const keepAlive = setInterval(() => write(': keep-alive\n\n'), keepAliveMs).unref();
  const close = (): void => {
    clearInterval(keepAlive);
    onClose();
  };
  response.on('close', close);
  // No `close` event follows if the client already disconnected.
  if (response.destroyed) queueMicrotask(close);
  return {
    send(message: object, eventId?: string): void {
      const id = eventId === undefined ? '' : `id: ${eventId}\n`;
      write(`event: message\n${id}data: ${JSON.stringify(message)}\n\n`);
    },
    /** Sends an empty event whose id lets the client resume. */
    prime: (eventId: string) => write(`id: ${eventId}\nretry: ${reconnectMs}\ndata: \n\n`),
    /** Sends an event that is not a JSON-RPC message. */
    sendEvent: (event: string, data: string) => write(`event: ${event}\ndata: ${data}\n\n`),
    end(): void {
      clearInterval(keepAlive);
      response.end();
    },
    get open(): boolean {
      return isOpen();
    },
  };
}
