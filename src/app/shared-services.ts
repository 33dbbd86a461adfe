import { createLeases, type Lease } from '../base/leases.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import type { Extractor } from '../documents/extractor.ts';
import type { EmbeddingProvider } from '../search/models/embedding-provider.ts';
import { embeddingSlice } from '../search/models/embedding-slice.ts';
import type { Reranker } from '../search/rerank/reranker.ts';
import { rerankingSlice } from '../search/rerank/reranking-slice.ts';
import type { Storage } from '../storage/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { openConfiguredStorage } from './configured-storage.ts';

export interface SharedServices {
  storage(): Promise<Lease<Storage>>;
  extractor(): Promise<Lease<Extractor>>;
  embeddings(): Promise<Lease<EmbeddingProvider>>;
  reranker(): Promise<Lease<Reranker>>;
  /** Returns the provider of a model that was used before, for texts that still have its vectors. */
  previousEmbeddings(model: string): Promise<EmbeddingProvider | undefined>;
}

/** Limits for untrusted documents: CPU time and memory of each, and how many are extracted at the same time. */
const extraction = { cpuMsMax: 5_000, memoryMb: 256, workersMax: 2 };

export function createSharedServices(config: Config, log: Logger, recorder?: Recorder): SharedServices {
  return {
    storage: createLeases(() => openConfiguredStorage(config.of(storageSlice), config.dataDir, log)),
    extractor: createLeases(async () => {
      const { createExtractor } = await import('../documents/extractor.ts');
      return createExtractor(extraction);
    }),
    embeddings: createLeases(async () => {
      const { createEmbeddingProvider, embeddingConfigOf } = await import(
        '../search/models/create-embedding-provider.ts'
      );
      return createEmbeddingProvider(embeddingConfigOf(config.of(embeddingSlice)));
    }),
    reranker: createLeases(async () => {
      const { openReranker } = await import('../search/rerank/open-reranker.ts');
      return openReranker(config.of(rerankingSlice), recorder?.reranked);
    }),
    async previousEmbeddings(model) {
      const { previousProvider, embeddingConfigOf } = await import('../search/models/create-embedding-provider.ts');
      return previousProvider(embeddingConfigOf(config.of(embeddingSlice)), model);
    },
  };
}

/** The shared services that one toolset or engine uses. They are released together. */
export type LeasedServices = {
  [Name in 'storage' | 'extractor' | 'embeddings' | 'reranker']: () => Promise<
    Awaited<ReturnType<SharedServices[Name]>>['resource']
  >;
};

export async function withServices<T>(
  shared: Pick<SharedServices, keyof LeasedServices>,
  open: (services: LeasedServices, close: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const leases: Promise<Lease<unknown>>[] = [];
  const use = async <Resource>(lease: Promise<Lease<Resource>>): Promise<Resource> => {
    leases.push(lease);
    return (await lease).resource;
  };
  const close = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(leases);
    await Promise.all(outcomes.map((each) => (each.status === 'fulfilled' ? each.value.release() : undefined)));
  };
  const services: LeasedServices = {
    storage: () => use(shared.storage()),
    extractor: () => use(shared.extractor()),
    embeddings: () => use(shared.embeddings()),
    reranker: () => use(shared.reranker()),
  };
  try {
    return await open(services, close);
  } catch (error) {
    await close();
    throw error;
  }
}
