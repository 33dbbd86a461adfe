import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Waiting {
  /** Bytes that the peer has accepted. */
  sent: number;
  /** When it last accepted some. */
  progressAt: number;
}

/** Tracks answers that were written but not yet read. */
export interface UnsentLimit {
  /** Call after a write to this socket. */
  wrote(socket: Socket): void;
}

/**
 * Bounds unread bytes over all connections. Above the limit, the clients that have not read for longest are disconnected;
 * active readers get their answers.
 */
export function createUnsentLimit(bytesMax: number, clock: () => number = () => performance.now()): UnsentLimit {
  const waiting = new Map<Socket, Waiting>();

  const measure = (): number => {
    let bytes = 0;
    for (const [socket, state] of waiting) {
      if (socket.destroyed || socket.writableLength === 0) {
        waiting.delete(socket);
        continue;
      }
      const sent = socket.bytesWritten - socket.writableLength;
      if (sent > state.sent) Object.assign(state, { sent, progressAt: clock() });
      bytes += socket.writableLength;
    }
    return bytes;
  };

  return {
    wrote(socket) {
      if (socket.writableLength === 0) return;
      if (!waiting.has(socket)) {
        waiting.set(socket, { sent: socket.bytesWritten - socket.writableLength, progressAt: clock() });
      }
      for (let bytes = measure(); bytes > bytesMax; ) {
        const [stalled] = [...waiting].toSorted(([, a], [, b]) => a.progressAt - b.progressAt);
        if (stalled === undefined) return;
        bytes -= stalled[0].writableLength;
        waiting.delete(stalled[0]);
        stalled[0].destroy();
      }
    },
  };
}

/** Responses that report what they write. */
export function createWatchedResponse({ wrote }: UnsentLimit) {
  return class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override write(...args: unknown[]): boolean {
      const more = Reflect.apply(super.write, this, args) as boolean;
      if (this.socket) wrote(this.socket);
      return more;
    }

    override end(...args: unknown[]): this {
      // Ending detaches the socket.
      const { socket } = this;
      Reflect.apply(super.end, this, args);
      if (socket) wrote(socket);
      return this;
    }
  };
}
