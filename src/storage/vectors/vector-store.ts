import type { NearestFinders } from '../dialect.ts';
import type { EntryFilter } from '../entries/entry-filter.ts';
import { matchingEntries } from '../entries/read-entries.ts';
import { createIdSet, type IdPages } from '../id-set.ts';
import type { PassageFilter } from '../passages/passage.ts';
import { matchingPassages } from '../passages/read-passages.ts';
import type { ReadOptions } from '../read-options.ts';
import { createStore, reads, type StoreOf, writes } from '../store-operations.ts';
import type { Transactions } from '../transactions.ts';
import { chooseModel, dropVectors, forgetModel, listModels } from './models.ts';
import {
  lookAtEntryVectors,
  lookAtPassageVectors,
  packVectors,
  removedVectors,
  scoreVectors,
  vectorState,
  vectorsAfter,
} from './read-vectors.ts';
import { claimableTexts, claimTexts, releaseClaims, unembeddedOwners, waitingTexts } from './texts-to-embed.ts';
import type {
  ClaimedTexts,
  ClaimTextsRequest,
  NearestRequest,
  ScoredVector,
  VectorCorpus,
  VectorLook,
} from './vector.ts';
import { putVectors } from './write-vectors.ts';

/** For a database that finds the nearest vectors itself. */
export interface NearestOperations extends NearestFinders {
  removeIndex(corpus: VectorCorpus, model: number): Promise<void>;
}

/** Operations of one transaction each. */
export const vectorOperations = {
  ...reads(
    {
      state: vectorState,
      after: vectorsAfter,
      removedAfter: removedVectors,
      score: scoreVectors,
      models: listModels,
    },
    { replica: true },
  ),
  ...reads({ waiting: waitingTexts, unembedded: unembeddedOwners }),
  ...writes({ choose: chooseModel, release: releaseClaims, put: putVectors }),
};

/** The steps of operations that take several transactions. */
export const vectorSteps = {
  ...reads({ lookAtEntryVectors, lookAtPassageVectors }, { replica: true }),
  ...reads({ claimableTexts }),
  ...writes({ claimTexts, packVectors, forgetModel, dropVectors }),
};

/**
 * The vectors of one corpus, and the list of texts that need theirs. The database maintains that list per chosen model: the
 * transaction that writes a new or changed text puts it there and deletes its old vectors. Vectors of several models coexist
 * and are never compared.
 */
export interface VectorStore<Filter> extends StoreOf<typeof vectorOperations, { corpus: VectorCorpus }> {
  /**
   * Leases the newest free texts, so that normally no other process embeds them too. The lease ends with its time, or when the
   * text gets its vectors or changes. Writes nothing if no text is free.
   */
  claim(request: ClaimTextsRequest): Promise<ClaimedTexts>;
  /**
   * Also stores vectors in blocks, which load many times faster. Does nothing if the database has a vector index. An abort ends it
   * after the current block, which stays.
   */
  pack(model: string, options?: ReadOptions): Promise<void>;
  /**
   * The nearest vectors of a model, with exact scores, best first: of at least `limit` owners, if there are that many.
   * Undefined if the database has no index for it: then the search keeps a copy of the vectors in memory.
   */
  readonly nearest: ((request: NearestRequest<Filter>, options?: ReadOptions) => Promise<ScoredVector[]>) | undefined;
  /** The first read of a search by meaning. */
  look(request: NearestRequest<Filter>, options?: ReadOptions): Promise<VectorLook>;
  /** The owners that pass the filter. */
  matching(filter: Filter, options?: ReadOptions): Promise<IdPages>;
  /**
   * Forgets a model, then its vectors, in several steps. Resolves when all are gone. Without a name it only finishes what a
   * stopped process began.
   */
  drop(model?: string): Promise<void>;
}

export interface VectorStores {
  readonly context: VectorStore<EntryFilter>;
  readonly kb: VectorStore<PassageFilter>;
}

export function createVectorStores(transactions: Transactions, nearest?: NearestOperations): VectorStores {
  const { read } = transactions;
  return {
    context: {
      ...createVectorStore(transactions, 'context', nearest),
      nearest: nearest && ((request, options) => read(nearest.context, request, options)),
      look: (request, options) => read(lookAtEntryVectors, request, options),
      matching: async (filter, options) => createIdSet(await read(matchingEntries, filter, options)).pages,
    },
    kb: {
      ...createVectorStore(transactions, 'kb', nearest),
      nearest: nearest && ((request, options) => read(nearest.kb, request, options)),
      look: (request, options) => read(lookAtPassageVectors, request, options),
      matching: (filter, options) => read(matchingPassages, filter, options),
    },
  };
}

function createVectorStore(
  transactions: Transactions,
  corpus: VectorCorpus,
  nearest: NearestOperations | undefined,
): Omit<VectorStore<never>, 'look' | 'matching' | 'nearest'> {
  const { read, write } = transactions;
  return {
    ...createStore(transactions, vectorOperations, { corpus }),
    async claim(request) {
      const { isFree, elsewhere } = await read(claimableTexts, { corpus, ...request });
      return isFree ? write(claimTexts, { corpus, ...request }) : { texts: [], elsewhere };
    },
    async pack(model, { signal } = {}) {
      for (let after: number | undefined = 0; after !== undefined && signal?.aborted !== true; )
        after = await write(packVectors, { corpus, model, after });
    },
    async drop(model) {
      for (const key of await write(forgetModel, { corpus, model })) await nearest?.removeIndex(corpus, key);
      while (await write(dropVectors, { corpus }));
    },
  };
}
