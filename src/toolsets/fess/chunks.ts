import { CarrelError } from '../../base/errors.ts';
import type { CursorSeal } from './cursor-seal.ts';
import type { DocumentText } from './document-content.ts';

/** One piece of a document's text, and its position. */
export interface Chunk {
  text: string;
  /** Start of the chunk in the whole text, in UTF-8 bytes. */
  offset: number;
  totalBytes: number;
  /** SHA-256 of the whole text in hex. It is the same in every chunk. */
  hash: string;
  isLast: boolean;
  /** Absent on the last chunk. */
  nextCursor?: string;
}

export interface ChunkOptions {
  chunkBytesMax: number;
  seal: CursorSeal;
  /** The context of a cursor, such as domain, document and caller. The cursor is invalid in any other. */
  bound: readonly string[];
  cursor: string | undefined;
}

/** Returns the chunk at the cursor, or the first one. Chunks neither overlap nor leave gaps. */
export function chunkAt(content: DocumentText, options: ChunkOptions): Chunk {
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

/** Moves `end` back to the start of a character. Other bytes of a character are 10xxxxxx in binary. */
function characterEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
