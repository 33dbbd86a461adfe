import { messageLimits, readMessageBytes } from '../mcp/messages/messages.ts';

/** The lines from which another process can restore a session, in order. */
export interface SessionLines {
  add(bytes: Buffer): void;
  all(): Iterable<Buffer>;
}

/** Keeps only the last line per method and URI, and drops unsubscribed URIs, so that the list stays short. */
export function createSessionLines(): SessionLines {
  const lines = new Map<string, Buffer>();
  return {
    add(bytes) {
      const read = readMessageBytes(bytes, { ...messageLimits, bytesMax: Number.POSITIVE_INFINITY });
      const [first] = read.ok ? read.incoming : [];
      if (first === undefined || !('method' in first)) return;
      const uri = String(first.params?.['uri'] ?? '');
      // The bytes are copied, because the line may be part of a much larger buffer.
      if (first.method === 'resources/unsubscribe') lines.delete(`resources/subscribe ${uri}`);
      else lines.set(`${first.method} ${uri}`, Buffer.from(bytes));
    },
    all: () => lines.values(),
  };
}
