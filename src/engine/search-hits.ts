import type { LocatedChunk } from '../storage/documents.ts';
import type { Storage } from '../storage/storage.ts';
import { matchedLeaves } from '../words/bm25.ts';
import { termText } from '../words/term-text.ts';
import { leavesOf, plainQuery, type WordLeaf } from '../words/word-query.ts';
import type { EngineHit } from './engine.ts';
import { neighboursOnWire } from './wire.ts';

export interface RankedChunk {
  readonly id: number;
  /** 0 to 1. */
  readonly score: number;
  /** What each leg says about it. */
  readonly why: { readonly words?: object; readonly meaning?: object; readonly rrf?: number };
}

export interface HitsRequest {
  readonly query: string;
  readonly neighbours: number;
  readonly signal?: AbortSignal | undefined;
}

/** The chunks as they are shown, with their documents. What was deleted since it was found is left out. */
export async function hitsOf(
  shown: readonly RankedChunk[],
  { query, neighbours, signal }: HitsRequest,
  storage: Storage,
): Promise<EngineHit[]> {
  if (shown.length === 0) return [];
  const leaves = leavesOf(plainQuery(query));
  const found = await storage.documents.located({ keys: shown.map(({ id }) => id), neighbours }, { signal });
  const chunks = new Map(found.map((chunk) => [chunk.key, chunk]));
  return shown.flatMap(({ id, score, why }) => {
    const chunk = chunks.get(id);
    if (chunk === undefined) return [];
    const { document } = chunk;
    return [
      {
        document_id: document.id,
        chunk_id: chunk.key,
        score,
        text: chunk.text,
        chunk_index: chunk.position,
        chunk_metadata: chunk.metadata,
        title: document.title,
        doc_type: document.docType,
        source_path: document.sourcePath ?? null,
        created_at: document.createdAt,
        tags: [...document.tags],
        why: why.words === undefined ? why : { ...why, words: { ...why.words, terms: termsIn(chunk, leaves) } },
        ...(neighbours > 0 ? { neighbours: neighboursOnWire(chunk) } : {}),
      },
    ];
  });
}

/** The words of the query that the chunk, its title or its headings hold. */
function termsIn({ text, metadata, document }: LocatedChunk, leaves: readonly WordLeaf[]): string[] {
  const heading = metadata['section_header'];
  return matchedLeaves(leaves, {
    title: termText(document.title),
    heading: termText(typeof heading === 'string' ? heading : ''),
    body: termText(text),
  });
}
