import { messageLimits, readMessageBytes } from '../mcp/messages/messages.ts';

/** Lines that made a session what it is, in the order in which another owner must get them. */
export interface SessionLines {
  add(bytes: Buffer): void;
  all(): Iterable<Buffer>;
}

/** Keeps the last line for each method and URI; an unsubscribed URI is dropped. So there are never many. */
export function createSessionLines(): SessionLines {
  const lines = new Map<string, Buffer>();
  return {
    add(bytes) {
      const read = readMessageBytes(bytes, { ...messageLimits, bytesMax: Number.POSITIVE_INFINITY });
      const [first] = read.ok ? read.incoming : [];
      if (first === undefined || !('method' in first)) return;
      const uri = String(first.params?.['uri'] ?? '');
      // A copy: the line may be a part of a much longer buffer.
      if (first.method === 'resources/unsubscribe') lines.delete(`resources/subscribe ${uri}`);
      else lines.set(`${first.method} ${uri}`, Buffer.from(bytes));
    },
    all: () => lines.values(),
  };
}
