export interface LineHandlers {
  line(bytes: Buffer): void;
  /** Called if a line exceeds the limit. The rest of the line is skipped. */
  tooLong(): void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** Call at the end of the input: text after the last newline is a line too. */
  end(): void;
}

/** Splits a byte stream into lines. Buffers at most one line, up to the limit. */
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
