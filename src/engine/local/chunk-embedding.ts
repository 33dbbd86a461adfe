import type { Logger } from '../../base/log.ts';
import { createMeaning } from '../../search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../search/models/embedding-provider.ts';
import type { PassageFilter } from '../../storage/passages/passage.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ReadOptions } from '../../storage/transactions.ts';
import type { EngineCall } from '../engine.ts';
import type { ChunkMeaning } from './passage-corpus.ts';

/** Embeds chunks in the background and searches them by meaning. */
export interface ChunkEmbedding {
  readonly model: { name: string; dimensions: number | null } | null;
  /** What runs the model; `not loaded` until first use. */
  readonly device: string;
  /** False while the embedding provider does not answer. */
  readonly isAvailable: boolean;
  readonly meaning: ChunkMeaning | undefined;
  /** Counts the chunks without vectors, which only keyword search finds. */
  pending(options?: EngineCall): Promise<number>;
  /** Counts the chunks without vectors per document. Omits documents that have none. */
  pendingOf(documents: readonly number[], options?: ReadOptions): Promise<ReadonlyMap<number, number>>;
  /** Embeds chunks without vectors in the background. Call once at the start, and after changes. */
  wake(): void;
  close(): Promise<void>;
}

export interface ChunkEmbeddingDeps {
  readonly storage: Storage;
  readonly embeddings: EmbeddingProvider | undefined;
  readonly previousEmbeddings?: ((model: string) => Promise<EmbeddingProvider | undefined>) | undefined;
  readonly log: Logger;
  /** False if other processes on this database create the vectors; they are notified of new chunks. */
  readonly embeds: boolean;
}

/** Poll interval for chunks that other processes ingest without embedding them: their notices may get lost. */
const pollMs = 5_000;

/** A search waits for chunks still being embedded only if they are this few, as after a new note. */
const waitForAllMax = 64;

export function createChunkEmbedding(deps: ChunkEmbeddingDeps): ChunkEmbedding {
  const { storage, embeddings: provider, previousEmbeddings, log, embeds } = deps;
  if (provider === undefined) return noEmbedding;
  const model = provider.name;
  const meaning = createMeaning<PassageFilter>({
    vectors: storage.vectors.kb,
    provider,
    providerOf: previousEmbeddings,
    log,
    embeds,
    waitForAllMax,
  });
  const poll = async (): Promise<void> => {
    // Ignores errors: the next poll tries again.
    const state = await storage.vectors.kb.state({ model }).catch(() => undefined);
    if (state !== undefined && state.pending > 0) meaning.wake();
  };
  const polling = embeds ? setInterval(() => void poll(), pollMs).unref() : undefined;
  return {
    get model() {
      return { name: model, dimensions: provider.dimensions ?? null };
    },
    get device() {
      return provider.device ?? 'not loaded';
    },
    get isAvailable() {
      return meaning.available;
    },
    meaning,
    async pending(options = {}) {
      const { scopedTo: anyTags } = options;
      if (anyTags === undefined) return (await storage.vectors.kb.state({ model }, options)).pending;
      const waiting = await storage.documents.pending({ anyTags, model }, options);
      return waiting.reduce((sum, { chunks }) => sum + chunks, 0);
    },
    async pendingOf(documents, options) {
      if (documents.length === 0) return new Map();
      const waiting = await storage.documents.pending({ documents, model }, options);
      return new Map(waiting.map(({ document, chunks }) => [document, chunks]));
    },
    wake: () => (embeds ? meaning.wake() : storage.shared?.notify({ about: 'work' })),
    close() {
      clearInterval(polling);
      return meaning.close();
    },
  };
}

const noEmbedding: ChunkEmbedding = {
  model: null,
  device: 'none',
  isAvailable: true,
  meaning: undefined,
  pending: async () => 0,
  pendingOf: async () => new Map(),
  wake: () => {},
  close: async () => {},
};
