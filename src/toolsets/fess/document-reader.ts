import { CarrelError } from '../../base/errors.ts';
import type { Call } from '../../tools/call.ts';
import type { CursorSeal } from './cursor-seal.ts';
import type { DocumentContent, DocumentText } from './document-content.ts';
import type { FessApi, FessDocument } from './fess-api/fess-api.ts';
import type { KnowledgeDomain } from './knowledge-domain.ts';
import { createPhases } from './phases.ts';

/** Reads one domain's documents. Searches for each with the domain's label first, so those of other domains are not found. */
export interface DocumentReader {
  document(docId: string, call: Call): Promise<{ document: FessDocument; hash: string | null }>;
  /** Reads the whole text. */
  readText(docId: string, call: Call): Promise<DocumentText>;
  readChunk(docId: string, cursor: string | undefined, call: Call): Promise<ChunkReading>;
}

interface ChunkReading {
  document: FessDocument;
  chunk: Chunk;
  /** True if the text was truncated. */
  isTruncated: boolean;
}

interface DocumentReaderDeps {
  api: FessApi;
  content: DocumentContent;
  seal: CursorSeal;
  domain: KnowledgeDomain;
  chunkBytesMax: number;
}

export function createDocumentReader(deps: DocumentReaderDeps): DocumentReader {
  const { api, content, seal, domain, chunkBytesMax } = deps;
  const lookUp = (docId: string, { signal }: Call) => api.document(docId, domain.labelFilter, { signal });
  return {
    async document(docId, call) {
      const phases = createPhases(call);
      const document = await phases.during('fetching', () => lookUp(docId, call));
      phases.done();
      return { document, hash: content.knownHash(document) ?? null };
    },
    async readText(docId, call) {
      const phases = createPhases(call);
      const document = await phases.during('fetching', () => lookUp(docId, call));
      const whole = await content.read(document, phases, call.signal);
      phases.done();
      return whole;
    },
    async readChunk(docId, cursor, call) {
      const phases = createPhases(call);
      const document = await phases.during('fetching', () => lookUp(docId, call));
      const whole = await content.read(document, phases, call.signal);
      const bound = ['content', domain.slug, docId, call.caller.owner];
      const chunk = await phases.during('chunking', async () => chunkAt(whole, { chunkBytesMax, seal, bound, cursor }));
      phases.done();
      return { document, chunk, isTruncated: whole.isTruncated };
    },
  };
}

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

interface ChunkOptions {
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
