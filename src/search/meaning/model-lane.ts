import type { Logger } from '../../base/log.ts';
import type { VectorStore } from '../../storage/contracts/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { createAwaitedEmbedding } from './awaited-embedding.ts';
import { type BackgroundEmbedding, createBackgroundEmbedding } from './background-embedding.ts';
import { bestOfOwners, type NearestVectors } from './nearest-vectors.ts';
import { createScannedVectors } from './scanned-vectors.ts';

/** Everything for one model: its provider, the background embedding, and the search for the nearest vectors. */
export interface ModelLane<Filter> {
  readonly model: string;
  readonly provider: EmbeddingProvider;
  readonly embedding: BackgroundEmbedding;
  readonly nearest: NearestVectors<Filter>;
  close(): Promise<void>;
}

export interface ModelLaneDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Awaited before anything is embedded. */
  readonly ready: () => Promise<void>;
  /** False: vectors are left to other processes on the database. */
  readonly embeds: boolean;
  readonly onDone?: () => void;
}

export function createModelLane<Filter>({
  vectors,
  provider,
  log,
  ready,
  embeds,
  onDone,
}: ModelLaneDeps<Filter>): ModelLane<Filter> {
  const model = provider.name;
  const nearest = vectors.nearest
    ? createStoredNearest(vectors.nearest, model)
    : createScannedVectors({ vectors, model });
  const working = (): BackgroundEmbedding =>
    createBackgroundEmbedding({
      vectors: {
        async claim(request) {
          await ready();
          return vectors.claim(request);
        },
        waiting: (request) => vectors.waiting(request),
        renew: (request) => vectors.renew(request),
        release: (request) => vectors.release(request),
        put: (request) => vectors.put(request),
        pack: (name, options) => vectors.pack(name, options),
      },
      provider,
      log,
      ...(onDone === undefined ? {} : { onDone }),
    });
  const embedding = embeds ? working() : createAwaitedEmbedding({ vectors, model, onDone });
  return {
    model,
    provider,
    embedding,
    nearest,
    async close() {
      await embedding.close();
      await nearest.close();
    },
  };
}

/** For a database that finds the nearest vectors itself: nothing is kept in memory. */
function createStoredNearest<Filter>(
  nearest: NonNullable<VectorStore<Filter>['nearest']>,
  model: string,
): NearestVectors<Filter> {
  return {
    async search(query, { limit, filter, allowed, signal }) {
      const owners = allowed === undefined || 'length' in allowed ? allowed : [...allowed];
      return bestOfOwners(await nearest({ model, query, limit, filter, allowed: owners }, { signal }), limit);
    },
    close: async () => {},
  };
}
