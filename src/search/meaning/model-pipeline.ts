import type { Logger } from '../../base/log.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import type { EmbeddingProvider } from '../models/embedding-provider.ts';
import { type BackgroundEmbedding, createBackgroundEmbedding } from './background-embedding.ts';
import type { NearestVectors } from './nearest-vectors.ts';
import { createScannedVectors } from './scanned-vectors.ts';

export type ModelPipeline = ReturnType<typeof createModelPipeline>;

interface ModelPipelineDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Awaited before anything is embedded. */
  readonly ready?: () => Promise<void>;
  /** False if only other processes on this database create vectors. */
  readonly embeds: boolean;
  readonly onDone?: () => void;
}

/** Creates the background embedding and vector search of one model. */
export function createModelPipeline<Filter>(deps: ModelPipelineDeps<Filter>) {
  const { vectors, provider, log, ready, embeds, onDone } = deps;
  const model = provider.name;
  const nearest: NearestVectors = vectors.isIndexed ? storedNearest : createScannedVectors(vectors, model);
  const embedding: BackgroundEmbedding = embeds
    ? createBackgroundEmbedding({ vectors, provider, log, ready, onDone })
    : embeddedByOthers(vectors, model, onDone);
  return {
    model,
    provider,
    embedding,
    nearest,
    async close(): Promise<void> {
      await embedding.close();
      await nearest.close();
    },
  };
}

/** For a process that doesn't embed. Its searches don't wait for new vectors, because perhaps no process creates any. */
function embeddedByOthers<Filter>(
  vectors: VectorStore<Filter>,
  model: string,
  onDone: (() => void) | undefined,
): BackgroundEmbedding {
  return {
    available: true,
    wake() {
      // Ignores a failure: the next call will report it.
      vectors.state({ model }).then(
        ({ pending }) => pending === 0 && onDone?.(),
        () => {},
      );
    },
    prefer() {},
    async whenEmbedded() {},
    async close() {},
  };
}

/** For a database that finds the nearest vectors itself, so that no copy in memory is needed. */
const storedNearest: NearestVectors = {
  candidates: async (_, { snapshot }) => ({ scored: snapshot.nearest ?? [] }),
  keysOf: undefined,
  close: async () => {},
};
