import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Waiting {
  /** Bytes that the peer's side has taken. */
  sent: number;
  /** When it last took some. */
  progressAt: number;
}

/** What has been written to clients and is still in memory. */
export interface UnsentLimit {
  /** After something was written to this socket. */
  wrote(socket: Socket): void;
}

/**
 * Bounds the bytes that wait for clients to read them, of all connections together. Beyond it, those are cut whose clients have
 * not read for longest; whoever reads gets its answer.
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
    override write(...given: unknown[]): boolean {
      const more = Reflect.apply(super.write, this, given) as boolean;
      if (this.socket) wrote(this.socket);
      return more;
    }

    override end(...given: unknown[]): this {
      // Ending takes the socket away.
      const { socket } = this;
      Reflect.apply(super.end, this, given);
      if (socket) wrote(socket);
      return this;
    }
  };
}
