export interface LineHandlers {
  line(bytes: Buffer): void;
  /** Called if a line exceeds the limit. The remainder of the line is skipped. */
  tooLong(): void;
}

export type LineReader = ReturnType<typeof createLineReader>;

/** Splits a byte stream into lines. Buffers at most one line, up to the limit. */
export function createLineReader(bytesMax: number, handlers: LineHandlers) {
  let parts: Buffer[] = [];
  let size = 0;
  let isSkipping = false;

  const endLine = (): void => {
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [];
    size = 0;
    if (!isSkipping && bytes.length > 0) handlers.line(bytes);
    isSkipping = false;
  };

  const append = (piece: Buffer): void => {
    if (isSkipping || piece.length === 0) return;
    size += piece.length;
    if (size > bytesMax) {
      parts = [];
      isSkipping = true;
      handlers.tooLong();
    } else {
      parts.push(piece);
    }
  };

  return {
    push(chunk: Buffer): void {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
        append(chunk.subarray(start, end));
        endLine();
        start = end + 1;
      }
      append(chunk.subarray(start));
    },
    /** Call at the end of the input: text after the last newline is a line too. */
    end: endLine,
  };
}
