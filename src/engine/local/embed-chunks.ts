import { isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EmbeddingProvider } from '../../search/embeddings/embedding-provider.ts';
import { createMeaning } from '../../search/meaning/meaning.ts';
import { embedPassages } from '../../search/passage-vectors.ts';
import type { NewChunk } from '../../storage/contracts/documents.ts';
import type { PassageFilter } from '../../storage/contracts/passages.ts';
import type { ReadOptions } from '../../storage/contracts/read-options.ts';
import type { Storage } from '../../storage/contracts/storage.ts';
import { titlePathOf } from '../../storage/text-hash.ts';
import type { EmbedChunks } from './ingest.ts';
import type { ChunkMeaning } from './search-documents.ts';

/** The vectors of chunks, made while they are ingested, and the search over them. */
export interface ChunkEmbedding {
  readonly model: { name: string; dimensions: number | null } | null;
  /** What the model runs on; `not loaded` until it is first used. */
  readonly device: string;
  /** Undefined if nothing is embedded. */
  readonly meaning: ChunkMeaning | undefined;
  readonly embedChunks: EmbedChunks;
  /** For a caller who waits: a few chunks are embedded at once, many in the background. */
  embedSoon(chunks: readonly NewChunk[], title: string, signal?: AbortSignal): Promise<readonly NewChunk[]>;
  /** Chunks that can only be found by words, because they are not embedded yet. */
  pending(options?: ReadOptions): Promise<number>;
  /** Embeds chunks without vectors in the background. To be called at the start and after changes. */
  wake(): void;
  close(): Promise<void>;
}

export interface ChunkEmbeddingDeps {
  readonly storage: Storage;
  readonly embeddings: EmbeddingProvider | undefined;
  /** The provider of a previously used model, by name. */
  readonly formerEmbeddings?: ((model: string) => Promise<EmbeddingProvider | undefined>) | undefined;
  readonly log: Logger;
}

/** Chunks that go to the model together. Between two groups, other calls are served and progress is reported. */
const groupSize = 16;

export function createChunkEmbedding({
  storage,
  embeddings,
  formerEmbeddings,
  log,
}: ChunkEmbeddingDeps): ChunkEmbedding {
  if (embeddings === undefined) return noEmbedding;
  const provider = embeddings;
  const model = provider.name;
  const meaning = createMeaning<PassageFilter>({
    vectors: storage.vectors.kb,
    provider,
    providerOf: formerEmbeddings,
    log,
    // A whole library may be waiting to be embedded.
    waits: false,
  });
  let chosen: Promise<void> | undefined;
  // Earlier chunks may have vectors of another model, or none because the model was down.
  let isMissing = true;

  const embedChunks: EmbedChunks = async (chunks, title, options) => {
    // The background notices when the provider is back; until then every file would wait in vain.
    if (!meaning.available) return without(chunks);
    try {
      chosen ??= storage.vectors.kb.choose(model);
      await chosen;
      return await embedAll(chunks, title, options);
    } catch (error) {
      chosen = undefined;
      options.signal?.throwIfAborted();
      if (!isCarrelError(error)) throw error;
      // The chunks can be searched by words at once, and by meaning when the provider is back.
      log.info('chunks are stored without vectors', { reason: error.message });
      return without(chunks);
    }
  };

  return {
    get model() {
      return { name: model, dimensions: provider.dimensions ?? null };
    },
    get device() {
      return provider.device ?? 'not loaded';
    },
    meaning,
    embedChunks,
    embedSoon: async (chunks, title, signal) =>
      chunks.length > groupSize ? without(chunks) : embedChunks(chunks, title, signal ? { signal } : {}),
    pending: async (options) => (await storage.vectors.kb.state({ model }, options)).pending,
    wake() {
      if (isMissing) meaning.wake();
      isMissing = false;
    },
    close: () => meaning.close(),
  };

  function without(chunks: readonly NewChunk[]): readonly NewChunk[] {
    isMissing = true;
    return chunks;
  }

  async function embedAll(
    chunks: readonly NewChunk[],
    title: string,
    { signal, onProgress }: Parameters<EmbedChunks>[2],
  ): Promise<NewChunk[]> {
    const embedded: NewChunk[] = [];
    for (let first = 0; first < chunks.length; first += groupSize) {
      const group = chunks.slice(first, first + groupSize);
      const passages = group.map(({ text, headings }) => ({ text, titlePath: titlePathOf(title, headings) }));
      const windows = await embedPassages(passages, provider, signal === undefined ? {} : { signal });
      group.forEach((chunk, place) => {
        embedded.push({ ...chunk, vectors: { model, windows: windows[place] ?? [] } });
      });
      onProgress?.(embedded.length);
    }
    return embedded;
  }
}

const noEmbedding: ChunkEmbedding = {
  model: null,
  device: 'none',
  meaning: undefined,
  embedChunks: async (chunks) => chunks,
  embedSoon: async (chunks) => chunks,
  pending: async () => 0,
  wake: () => {},
  close: async () => {},
};
