import type { Storage } from '../../storage/contracts/storage.ts';
import type { EngineHit } from '../engine.ts';
import { neighboursOnWire, truncatedOf } from '../wire.ts';

export interface RankedChunk {
  readonly id: number;
  /** The chance that it answers the query: 0 to 1. */
  readonly relevance: number;
  /** The scores of each leg. */
  readonly why: Record<string, unknown>;
}

export interface HitsRequest {
  readonly neighbours: number;
  readonly signal?: AbortSignal | undefined;
}

/** The chunks as hits, with their documents. Chunks that were deleted in the meantime are left out. */
export async function hitsOf(
  shown: readonly RankedChunk[],
  { neighbours, signal }: HitsRequest,
  storage: Storage,
): Promise<EngineHit[]> {
  if (shown.length === 0) return [];
  const found = await storage.documents.located({ keys: shown.map(({ id }) => id), neighbours }, { signal });
  const chunks = new Map(found.map((chunk) => [chunk.key, chunk]));
  return shown.flatMap(({ id, relevance, why }) => {
    const chunk = chunks.get(id);
    if (chunk === undefined) return [];
    const { document } = chunk;
    return [
      {
        document_id: document.id,
        chunk_id: chunk.key,
        score: relevance,
        relevance,
        text: chunk.text,
        chunk_index: chunk.position,
        chunk_metadata: chunk.metadata,
        title: document.title,
        doc_type: document.docType,
        source_path: document.sourcePath ?? null,
        content_hash: document.contentHash,
        created_at: document.createdAt,
        tags: [...document.tags],
        ...truncatedOf(document.details),
        why,
        ...(neighbours > 0 ? { neighbours: neighboursOnWire(chunk) } : {}),
      },
    ];
  });
}
