import { CarrelError } from '../../base/errors.ts';
import type { CursorSeal } from './cursor-seal.ts';
import type { DocumentText } from './document-content.ts';

/** One piece of a document's text, and its position (000 §8.4). */
export interface Chunk {
  text: string;
  /** In UTF-8 bytes of the whole text. */
  offset: number;
  totalBytes: number;
  /** SHA-256 of the whole text in hex; the same on every chunk. */
  hash: string;
  isLast: boolean;
  /** Absent on the last chunk. */
  nextCursor?: string;
}

export interface ChunkOptions {
  chunkBytesMax: number;
  seal: CursorSeal;
  /** The context that a cursor is bound to; it is invalid in any other. */
  bound: readonly string[];
  cursor: string | undefined;
}

/** The cursor's chunk, or the first. Chunks neither overlap nor leave gaps. */
export function cutChunk(content: DocumentText, options: ChunkOptions): Chunk {
  const { chunkBytesMax, seal, bound, cursor } = options;
  const bytes = Buffer.from(content.text, 'utf8');
  const { hash } = content;
  const offset = cursor === undefined ? 0 : placeOf(cursor, hash, seal, bound);
  const end = characterEnd(bytes, Math.min(offset + chunkBytesMax, bytes.length));
  const isLast = end >= bytes.length;
  return {
    text: bytes.toString('utf8', offset, end),
    offset,
    totalBytes: bytes.length,
    hash,
    isLast,
    ...(isLast ? {} : { nextCursor: seal.close(bound, [end, hash]) }),
  };
}

function placeOf(cursor: string, hash: string, seal: CursorSeal, bound: readonly string[]): number {
  const [offset, cursorHash] = seal.open(bound, cursor) ?? [];
  if (typeof offset !== 'number') {
    throw new CarrelError(
      'invalid_cursor',
      'This cursor is invalid for this document, or has expired. Read the document again without one.',
    );
  }
  if (cursorHash !== hash) {
    throw new CarrelError(
      'content_changed',
      'The document has changed since the cursor was issued. Read it again from the start.',
    );
  }
  return offset;
}

/** Moves back to a character boundary: continuation bytes are 10xxxxxx. */
function characterEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
