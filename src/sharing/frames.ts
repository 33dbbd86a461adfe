/**
 * What a relay and the process that serves its client say to each other. A frame is whole or it never came: when the
 * process dies, each line of the client is known to be answered or not.
 */
export const frameKinds = {
  // From the relay.
  hello: 1,
  /** A line that an earlier process has answered, and that made the session what it is. */
  replay: 2,
  line: 3,
  tooLong: 4,
  /** The client has closed its end. */
  end: 5,
  // To the relay.
  welcome: 16,
  refused: 17,
  message: 18,
  settled: 19,
  keep: 20,
  stderr: 21,
  /** No line after this one was taken, nor will be. */
  leaving: 22,
  /** All that will be answered is answered; with 1 for the line, this process ends with its client. */
  bye: 23,
} as const;

export interface Frame {
  kind: number;
  /** The number of the client's line that it is about; 0 for none. */
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

/** Returns a function that takes the bytes as they come. It throws on a frame longer than `bytesMax()`. */
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
        if (header.length > bytesMax()) throw new RangeError(`a frame of ${header.length} bytes`);
      }
      if (held < header.length) return;
      const { kind, line, length } = header;
      header = undefined;
      take({ kind, line, bytes: pull(length) });
    }
  };
}

/** What a relay says first. */
export interface Hello {
  secret: string;
  /** `status` asks only who is served. */
  wants: 'service' | 'status';
  /** Names the client while its relay runs, across owners. */
  client: string;
  /** The folder that the relay was started in. */
  folder: string;
}

/** What a relay must know of the process that serves it. */
export interface Welcome {
  pid: number;
  /** The longest line that is accepted, in bytes. */
  bytesMax: number;
  /** Tools that change nothing: calls of these may be repeated. */
  readOnlyTools: readonly string[];
  /** Where the answers of `carrel serve` come from. */
  place?: ServedPlace | undefined;
}

/** As people are told, without credentials. */
export interface ServedPlace {
  /** A file, or host and name of a database. */
  readonly database: string;
  /** The engine that the knowledge base asks instead. */
  readonly engine?: string | undefined;
}

/**
 * Why a relay is not served. `outdated`: the settings have changed since this process read them. `elsewhere`: paths in the
 * settings start from the current folder, which is another one here.
 */
export type Refusal = 'outdated' | 'elsewhere' | 'unknown';

export interface OwnerStatus {
  clients: number;
}
