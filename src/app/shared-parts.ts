import type { Config } from '../config/load.ts';
import type { Extractor } from '../documents/extractor.ts';
import type { EmbeddingProvider } from '../search/embeddings/embedding-provider.ts';
import { embeddingSlice } from '../search/embeddings/embedding-slice.ts';
import type { Storage } from '../storage/contracts/storage.ts';
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
  formerEmbeddings(model: string): Promise<EmbeddingProvider | undefined>;
}

/** What one document may cost (security limit: five seconds, 256 MB), and how many are read at the same time. */
const extraction = { cpuMsMax: 5_000, memoryMb: 256, workersMax: 2 };

export function createSharedParts(config: Config): SharedParts {
  return {
    storage: createLeases(() => openConfiguredStorage(config.of(storageSlice), config.dataDir)),
    extractor: createLeases(async () => {
      const { createExtractor } = await import('../documents/extractor.ts');
      return createExtractor(extraction);
    }),
    embeddings: createLeases(async () => {
      const [{ createEmbeddingProvider }, { embeddingConfigOf }] = await Promise.all([
        import('../search/embeddings/create-embedding-provider.ts'),
        import('../search/embeddings/embedding-config.ts'),
      ]);
      return createEmbeddingProvider(embeddingConfigOf(config.of(embeddingSlice)));
    }),
    async formerEmbeddings(model) {
      const [{ formerProvider }, { embeddingConfigOf }] = await Promise.all([
        import('../search/embeddings/former-provider.ts'),
        import('../search/embeddings/embedding-config.ts'),
      ]);
      return formerProvider(embeddingConfigOf(config.of(embeddingSlice)), model);
    },
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
