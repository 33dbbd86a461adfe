import type { Call } from '../../tools/call.ts';
import { beginning, type CursorSigner, checkSameText, createCursorSigner } from '../../tools/signed-cursor.ts';
import type { DocumentContent, DocumentText } from './document-content.ts';
import type { FessApi, FessDocument } from './fess-api/fess-api.ts';
import type { KnowledgeDomain } from './knowledge-domain.ts';
import { createPhases } from './phases.ts';

/** Reads one domain's documents. Looks each up with the domain's label first, so documents of other domains are not found. */
export interface DocumentReader {
  document(docId: string, call: Call): Promise<{ document: FessDocument; hash: string | null }>;
  /** Reads the whole text. */
  readText(docId: string, call: Call): Promise<DocumentText>;
  readChunk(
    docId: string,
    cursor: string | undefined,
    call: Call,
  ): Promise<{ document: FessDocument; chunk: Chunk; isTruncated: boolean }>;
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

interface DocumentReaderDeps {
  api: FessApi;
  content: DocumentContent;
  domain: KnowledgeDomain;
  chunkBytesMax: number;
}

export function createDocumentReader({ api, content, domain, chunkBytesMax }: DocumentReaderDeps): DocumentReader {
  const start = async (docId: string, call: Call) => {
    const phases = createPhases(call);
    const { signal } = call;
    const document = await phases.during('fetching', () => api.document(docId, domain.labelFilter, { signal }));
    return { phases, document };
  };
  return {
    async document(docId, call) {
      const { phases, document } = await start(docId, call);
      phases.done();
      return { document, hash: content.knownHash(document) ?? null };
    },
    async readText(docId, call) {
      const { phases, document } = await start(docId, call);
      const text = await content.read(document, phases, call.signal);
      phases.done();
      return text;
    },
    async readChunk(docId, cursor, call) {
      const { phases, document } = await start(docId, call);
      const text = await content.read(document, phases, call.signal);
      const cursors = createCursorSigner(JSON.stringify(['fess', domain.slug, docId, call.caller.owner]));
      const chunk = await phases.during('chunking', async () => chunkAt(text, { chunkBytesMax, cursors, cursor }));
      phases.done();
      return { document, chunk, isTruncated: text.isTruncated };
    },
  };
}

/** Returns the chunk at the cursor, or the first one. Chunks neither overlap nor leave gaps. */
export function chunkAt(
  { text, hash }: DocumentText,
  options: { chunkBytesMax: number; cursors: CursorSigner; cursor: string | undefined },
): Chunk {
  const { chunkBytesMax, cursors, cursor } = options;
  const bytes = Buffer.from(text, 'utf8');
  const position = cursor === undefined ? beginning : cursors.read(cursor);
  checkSameText(position, [hash]);
  const offset = position.at;
  const end = characterEnd(bytes, Math.min(offset + chunkBytesMax, bytes.length));
  const isLast = end >= bytes.length;
  return {
    text: bytes.toString('utf8', offset, end),
    offset,
    totalBytes: bytes.length,
    hash,
    isLast,
    ...(isLast ? {} : { nextCursor: cursors.issue(end, [hash]) }),
  };
}

/** Moves `end` back to the start of a character. All other bytes of a character are 10xxxxxx in binary. */
function characterEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
