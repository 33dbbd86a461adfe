/**
 * Kinds of frames in the protocol between a relay and the owner. A frame is handled as a whole or not at all: if the owner
 * dies, the relay knows which client lines are unanswered.
 */
export const frameKinds = {
  // Frames from the relay to the owner.
  hello: 1,
  /** A line already answered by an earlier owner, needed to restore the session. */
  replay: 2,
  line: 3,
  tooLong: 4,
  /** The client closed its input. */
  end: 5,
  // Frames from the owner to the relay.
  welcome: 16,
  refused: 17,
  message: 18,
  noAnswer: 19,
  keep: 20,
  stderr: 21,
  /** The owner accepts no lines after this one. */
  leaving: 22,
  /** All lines are answered. `line` is 1 if the owner exits together with this client, else 0. */
  bye: 23,
} as const;

export interface Frame {
  kind: number;
  /** The number of the client line that it refers to; 0 for none. */
  line: number;
  bytes: Buffer;
}

const headerBytes = 9;

export function encodeFrame(kind: number, line = 0, content: string | Buffer = ''): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(line, 1);
  header.writeUInt32BE(bytes.length, 5);
  return Buffer.concat([header, bytes]);
}

/** Returns a function that consumes incoming bytes. Throws on frames longer than `bytesMax()`. */
export function createFrameReader(bytesMax: () => number, take: (frame: Frame) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  let header: { kind: number; line: number; length: number } | undefined;
  const pull = (count: number): Buffer => {
    const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, held);
    parts = [all.subarray(count)];
    held -= count;
    return all.subarray(0, count);
  };
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    for (;;) {
      if (header === undefined) {
        if (held < headerBytes) return;
        const bytes = pull(headerBytes);
        header = { kind: bytes.readUInt8(0), line: bytes.readUInt32BE(1), length: bytes.readUInt32BE(5) };
        if (header.length > bytesMax())
          throw new RangeError(`a frame of ${header.length} bytes exceeds the limit of ${bytesMax()}`);
      }
      if (held < header.length) return;
      const { kind, line, length } = header;
      header = undefined;
      take({ kind, line, bytes: pull(length) });
    }
  };
}

/** A relay's first message. */
export interface Hello {
  secret: string;
  /** What the relay wants. `status`: only the number of clients. */
  wants: 'service' | 'status';
  /** Identifies the client across owners. */
  client: string;
  /** The folder in which the relay was started. */
  folder: string;
}

/** An owner's answer to a relay's hello. */
export interface Welcome {
  pid: number;
  /** Max bytes per line. */
  bytesMax: number;
  /** Names of read-only tools, whose calls may be repeated. */
  readOnlyTools: readonly string[];
  /** Which data `carrel serve` answers from. */
  data?: ServedData | undefined;
}

/** A description of the data for people, without credentials. */
export interface ServedData {
  /** A file, or host and name of a database. */
  readonly database: string;
  /** The engine that the knowledge base uses instead of the database. */
  readonly engine?: string | undefined;
}

/**
 * Why an owner rejects a relay. `outdated`: the settings have changed since the owner read them. `elsewhere`: the settings
 * have relative paths, and the relay runs in another folder. `unknown`: the secret is wrong.
 */
export type Refusal = 'outdated' | 'elsewhere' | 'unknown';

export interface OwnerStatus {
  clients: number;
}
