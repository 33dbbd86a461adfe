import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface UnreadSocket {
  /** Bytes that the client has accepted. */
  sent: number;
  /** When the client last accepted bytes. */
  progressAt: number;
}

/**
 * Limits the unread bytes of all connections together. Above the limit, disconnects the clients that have not read anything
 * for the longest time.
 */
export function createUnsentLimit(bytesMax: number, clock: () => number = () => performance.now()) {
  const unread = new Map<Socket, UnreadSocket>();

  const measure = (): number => {
    let bytes = 0;
    for (const [socket, state] of unread) {
      if (socket.destroyed || socket.writableLength === 0) {
        unread.delete(socket);
        continue;
      }
      const sent = socket.bytesWritten - socket.writableLength;
      if (sent > state.sent) Object.assign(state, { sent, progressAt: clock() });
      bytes += socket.writableLength;
    }
    return bytes;
  };

  return {
    /** Call after a write to this socket. */
    wrote(socket: Socket): void {
      if (socket.writableLength === 0) return;
      if (!unread.has(socket)) {
        unread.set(socket, { sent: socket.bytesWritten - socket.writableLength, progressAt: clock() });
      }
      for (let bytes = measure(); bytes > bytesMax; ) {
        const [stalled] = [...unread].toSorted(([, a], [, b]) => a.progressAt - b.progressAt);
        if (stalled === undefined) return;
        bytes -= stalled[0].writableLength;
        unread.delete(stalled[0]);
        stalled[0].destroy();
      }
    },
  };
}

/** Creates a response class that reports its writes to the limit. */
export function createWatchedResponse({ wrote }: ReturnType<typeof createUnsentLimit>) {
  return class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override write(...args: unknown[]): boolean {
      const canWriteMore = Reflect.apply(super.write, this, args) as boolean;
      if (this.socket) wrote(this.socket);
      return canWriteMore;
    }

    override end(...args: unknown[]): this {
      // Read first, because `end` detaches the socket.
      const { socket } = this;
      Reflect.apply(super.end, this, args);
      if (socket) wrote(socket);
      return this;
    }
  };
}
