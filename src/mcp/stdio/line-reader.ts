export interface LineHandlers {
  line(bytes: Buffer): void;
  /** A line exceeded the limit; the rest of it is skipped. */
  tooLong(): void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** End of input: text after the last newline is a line too. */
  end(): void;
}

/** Splits a byte stream into lines, buffering at most one bounded line. */
export function createLineReader(bytesMax: number, handlers: LineHandlers): LineReader {
  let parts: Buffer[] = [];
  let size = 0;
  let skipping = false;

  const take = (): void => {
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [];
    size = 0;
    if (!skipping && bytes.length > 0) handlers.line(bytes);
    skipping = false;
  };

  const keep = (piece: Buffer): void => {
    if (skipping || piece.length === 0) return;
    size += piece.length;
    if (size > bytesMax) {
      parts = [];
      skipping = true;
      handlers.tooLong();
    } else {
      parts.push(piece);
    }
  };

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
        keep(chunk.subarray(start, end));
        take();
        start = end + 1;
      }
      keep(chunk.subarray(start));
    },
    end: take,
  };
}
