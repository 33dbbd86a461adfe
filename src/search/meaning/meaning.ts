import type { Logger } from '../../base/log.ts';
import type { VectorStore } from '../../storage/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { createBackgroundEmbedding } from './background-embedding.ts';
import { type AllowedOwners, createScannedVectors, type MeaningMatch } from './scanned-vectors.ts';

export type { MeaningMatch } from './scanned-vectors.ts';

/** Search by meaning over one corpus. Vectors are made in the background; a write never waits for them. */
export interface Meaning<Filter> {
  readonly model: string;
  readonly dimensions: number | undefined;
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** There is something to embed. */
  wake(): void;
  /**
   * The nearest texts, each once, by its nearest part. Waits a moment for those that are just being embedded; `pending`
   * tells how many were not found for that reason. What may not be found is left out before anything is ranked.
   */
  search(request: MeaningRequest<Filter>): Promise<MeaningAnswer>;
  close(): Promise<void>;
}

export interface MeaningRequest<Filter> {
  readonly text: string;
  /** Of the text, where it is known already: a second search for the same text need not embed it again. */
  readonly vector?: Float32Array | undefined;
  readonly limit: number;
  /** What the database can tell, in its own terms. */
  readonly filter?: Filter | undefined;
  /** The owners that may be found, for a caller who knows them. */
  readonly allowed?: AllowedOwners | undefined;
  readonly signal: AbortSignal;
}

export interface MeaningAnswer {
  /** Of the text that was searched for. */
  readonly vector: Float32Array;
  readonly matches: MeaningMatch[];
  readonly pending: number;
}

export interface MeaningDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** False: a search never waits for texts that are being embedded. For corpora in which many may be. */
  readonly waits?: boolean;
}

/** Touches neither the database nor the model before it is woken or asked. */
export function createMeaning<Filter>({ vectors, provider, log, waits = true }: MeaningDeps<Filter>): Meaning<Filter> {
  const model = provider.name;
  const nearest = createScannedVectors({ vectors, model });
  let chosen: Promise<void> | undefined;
  const embedding = createBackgroundEmbedding({
    vectors: {
      async waiting(request) {
        await choose();
        return vectors.waiting(request);
      },
      put: (request) => vectors.put(request),
    },
    provider,
    log,
  });

  return {
    model,
    get dimensions() {
      return provider.dimensions;
    },
    get available() {
      return embedding.available;
    },
    wake: () => embedding.wake(),
    async search({ text, vector, limit, filter, allowed, signal }) {
      const query = vector ?? (await provider.embed([text], { purpose: 'query', signal }))[0];
      if (query === undefined) return { matches: [], pending: 0, vector: new Float32Array() };
      const pending = await settle(signal);
      return { matches: await nearest.search(query, { limit, filter, allowed, signal }), pending, vector: query };
    },
    async close() {
      await embedding.close();
      await nearest.close();
    },
  };

  function choose(): Promise<void> {
    // One that failed is tried again.
    chosen ??= vectors.choose(model).catch((error) => {
      chosen = undefined;
      throw error;
    });
    return chosen;
  }

  async function settle(signal: AbortSignal): Promise<number> {
    const { pending } = await vectors.state({ model }, { signal });
    if (pending === 0 || !waits) return pending;
    await embedding.settled();
    return (await vectors.state({ model }, { signal })).pending;
  }
}
