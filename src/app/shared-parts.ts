import type { Config } from '../config/load.ts';
import { createExtractor, type Extractor } from '../documents/extractor.ts';
import { createEmbeddingProvider } from '../search/embeddings/create-embedding-provider.ts';
import type { EmbeddingProvider } from '../search/embeddings/embedding-provider.ts';
import { embeddingConfigOf, embeddingSlice } from '../search/embeddings/embedding-slice.ts';
import { formerProvider } from '../search/embeddings/former-provider.ts';
import type { Storage } from '../storage/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { openConfiguredStorage } from './open-storage.ts';

/** Something that several toolsets use: opened for the first that asks, closed when the last gives it back. */
export interface Lease<Part> {
  part: Part;
  release(): Promise<void>;
}

export interface SharedParts {
  storage(): Promise<Lease<Storage>>;
  extractor(): Promise<Lease<Extractor>>;
  embeddings(): Promise<Lease<EmbeddingProvider>>;
  /** The provider of a model that was used before. */
  formerEmbeddings(model: string): EmbeddingProvider | undefined;
}

/** What one document may cost (security bar: five seconds, 256 MB), and how many are read at the same time. */
const extraction = { timeoutMs: 5_000, memoryMb: 256, workersMax: 2 };

export function createSharedParts(config: Config): SharedParts {
  return {
    storage: createLeases(() => openConfiguredStorage(config.of(storageSlice), config.dataDir)),
    extractor: createLeases(async () => createExtractor(extraction)),
    embeddings: createLeases(async () => createEmbeddingProvider(embeddingConfigOf(config.of(embeddingSlice)))),
    formerEmbeddings: (model) => formerProvider(embeddingConfigOf(config.of(embeddingSlice)), model),
  };
}

function createLeases<Part extends { close(): Promise<void> }>(open: () => Promise<Part>): () => Promise<Lease<Part>> {
  let opened: Promise<Part> | undefined;
  let holders = 0;
  return async () => {
    opened ??= open();
    const part = await opened;
    holders += 1;
    return {
      part,
      async release() {
        holders -= 1;
        if (holders === 0) await part.close();
      },
    };
  };
}
