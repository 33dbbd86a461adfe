import type { Logger } from '../base/log.ts';
import type { EmbeddingProvider } from '../search/embeddings/embedding-provider.ts';
import type { Storage } from '../storage/storage.ts';
import type { EmbedChunks } from './ingest.ts';
import type { ChunkMeaning } from './search-documents.ts';

export interface ChunkEmbedding {
  readonly model: { name: string; dimensions: number | null } | null;
  readonly meaning: ChunkMeaning | undefined;
  readonly embedChunks: EmbedChunks;
  /** There is something to embed in the background. */
  wake(): void;
  close(): Promise<void>;
}

export interface ChunkEmbeddingDeps {
  readonly storage: Storage;
  readonly embeddings: EmbeddingProvider | undefined;
  readonly log: Logger;
}

/** Everything about the meaning of chunks: their vectors, made as they come in, and the search over them. */
export function createChunkEmbedding({ embeddings }: ChunkEmbeddingDeps): ChunkEmbedding {
  return {
    model: embeddings === undefined ? null : { name: embeddings.name, dimensions: embeddings.dimensions ?? null },
    meaning: undefined,
    embedChunks: async (chunks) => chunks,
    wake: () => {},
    close: async () => {},
  };
}
