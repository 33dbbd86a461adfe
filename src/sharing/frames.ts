/**
 * The frames between a relay, which has one stdio client, and the owner, which serves all clients. A relay numbers its client's
 * lines from 1. If the owner dies, the relay knows which lines are unanswered.
 */
export const frameKinds = {
  // Frames from the relay to the owner.
  /** `Hello` as JSON. */
  hello: 1,
  /** A line that an earlier owner answered, sent again to restore the session. Its answer is discarded. */
  replay: 2,
  line: 3,
  /** Replaces a line that exceeds `Welcome.bytesMax`. */
  tooLong: 4,
  /** The client closed its input. */
  end: 5,
  // Frames from the owner to the relay.
  /** `Welcome` as JSON. */
  welcome: 16,
  /** A `Refusal`. */
  refused: 17,
  /** A message for the client, as an answer to `line` if that isn't 0. */
  message: 18,
  /** The line gets no answer. */
  noAnswer: 19,
  /** The line changed the session, so the relay must store it for a replay. */
  keep: 20,
  /** Text for the client's stderr. */
  stderr: 21,
  /** The owner is stopping. It accepts no lines after this one. */
  leaving: 22,
  /** All lines are answered. `line` is 1 if the owner exits together with this client, else 0. */
  bye: 23,
} as const;

export interface Frame {
  kind: number;
  /** The number of the client's line that the frame refers to; 0 for none. */
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

/** Returns a function that splits incoming bytes into frames. It throws on frames longer than `bytesMax()`. */
export function createFrameReader(bytesMax: () => number, onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let buffered = 0;
  let header: { kind: number; line: number; length: number } | undefined;

  const take = (count: number): Buffer => {
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, buffered);
    chunks = [all.subarray(count)];
    buffered -= count;
    return all.subarray(0, count);
  };

  return (chunk) => {
    chunks.push(chunk);
    buffered += chunk.length;
    for (;;) {
      if (header === undefined) {
        if (buffered < headerBytes) return;
        const bytes = take(headerBytes);
        header = { kind: bytes.readUInt8(0), line: bytes.readUInt32BE(1), length: bytes.readUInt32BE(5) };
        if (header.length > bytesMax())
          throw new RangeError(`a frame of ${header.length} bytes exceeds the limit of ${bytesMax()}`);
      }
      if (buffered < header.length) return;
      const { kind, line, length } = header;
      header = undefined;
      onFrame({ kind, line, bytes: take(length) });
    }
  };
}

/** A relay's first message. */
export interface Hello {
  secret: string;
  /** `status` requests only the number of clients. */
  wants: 'service' | 'status';
  /** Identifies the client across owners. */
  client: string;
  /** The folder in which the relay was started. */
  folder: string;
}

export interface Welcome {
  pid: number;
  /** Max bytes per line. */
  bytesMax: number;
  /** Names of read-only tools, whose calls may be repeated. */
  readOnlyTools: readonly string[];
  /** The source of answers; `carrel serve` only. */
  data?: ServedData | undefined;
  /** The number of connected clients, if the relay wants the status. */
  clients?: number;
}

/** The source of answers, as shown to users. Contains no credentials. */
export interface ServedData {
  /** The path of a SQLite file, or the host and name of a PostgreSQL database. */
  readonly database: string;
  /** The remote engine of the knowledge base. */
  readonly engine?: string | undefined;
}

/**
 * Why an owner rejects a relay. `outdated`: the settings have changed since the owner read them. `elsewhere`: the settings
 * have relative paths, and the relay runs in another folder. `unknown`: the secret is wrong.
 */
export type Refusal = 'outdated' | 'elsewhere' | 'unknown';
