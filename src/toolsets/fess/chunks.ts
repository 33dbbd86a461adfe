import { CarrelError } from '../../base/errors.ts';
import type { CursorSeal } from './cursor-seal.ts';
import type { DocumentText } from './document-content.ts';

/** One piece of a document's text, and its position in the whole (000 §8.4). */
export interface Chunk {
  text: string;
  /** In bytes of the whole text in UTF-8. */
  offset: number;
  totalBytes: number;
  /** SHA-256 of the whole text, in hexadecimal digits: the same on every chunk. */
  hash: string;
  isLast: boolean;
  /** Absent on the last. */
  nextCursor?: string;
}

export interface ChunkOptions {
  chunkBytesMax: number;
  seal: CursorSeal;
  /** Who and what a cursor belongs to. */
  bound: readonly string[];
  cursor: string | undefined;
}

/** The chunk that the cursor names, or the first. Chunks follow one another without gaps or overlaps. */
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
      'This cursor does not belong to this document, or is no longer valid. Read the document again without one.',
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

/** Moves back to where a character begins: continuation bytes are 10xxxxxx. */
function characterEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
