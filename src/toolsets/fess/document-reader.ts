import type { Call } from '../../tools/call.ts';
import { type Chunk, chunkAt } from './chunks.ts';
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

export interface ChunkReading {
  document: FessDocument;
  chunk: Chunk;
  /** True if the text was truncated. */
  isTruncated: boolean;
}

export interface DocumentReaderDeps {
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
