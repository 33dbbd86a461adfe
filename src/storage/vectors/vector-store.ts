import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError } from '../../base/errors.ts';
import type { Operation } from '../dialect.ts';
import type { EntryFilter } from '../entries/entry.ts';
import { matchingEntries } from '../entries/search-entries.ts';
import type { PassageFilter } from '../passages/passage.ts';
import { createStore, reads, type StoreOf, writes } from '../store-operations.ts';
import type { ReadOptions, Transactions } from '../transactions.ts';
import { chooseModel, dropVectors, forgetModel, listModels } from './models.ts';
import {
  matchingPassages,
  readEntrySnapshot,
  readPassageSnapshot,
  removedVectors,
  scoreVectors,
  vectorState,
  vectorsAfter,
} from './read-vectors.ts';
import { claimTexts, putVectors, releaseClaims, unembeddedOwners, waitingTexts } from './texts-to-embed.ts';
import type { NearestRequest, VectorCorpus, VectorSnapshot } from './vector.ts';

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
  ...writes({ choose: chooseModel, claim: claimTexts, release: releaseClaims, put: putVectors }),
};

/** Operations that `createVectorStores` uses to implement `readSnapshot` and `drop`. */
export const vectorSteps = {
  ...reads({ readEntrySnapshot, readPassageSnapshot }, { replica: true }),
  ...writes({ forgetModel, dropVectors }),
};

/**
 * The vectors of one corpus, and the list of texts that still need vectors. The database maintains this list for each chosen
 * model: a transaction that writes a new or changed text also lists it and deletes its old vectors. Vectors of different models
 * coexist and are never compared.
 */
export interface VectorStore<Filter> extends StoreOf<typeof vectorOperations, { corpus: VectorCorpus }> {
  /** True if the database itself finds the nearest vectors. Otherwise the search has a copy of them in memory. */
  readonly isIndexed: boolean;
  /** Reads what a search by meaning needs first, in one transaction. */
  readSnapshot(request: NearestRequest<Filter>, options?: ReadOptions): Promise<VectorSnapshot>;
  /** Returns the owners that pass the filter. */
  matching(filter: Filter, options?: ReadOptions): Promise<readonly number[]>;
  /** Removes a model, then its vectors in several steps. Without a name, finishes a removal that was interrupted. */
  drop(model?: string): Promise<void>;
}

export interface VectorStores {
  readonly context: VectorStore<EntryFilter>;
  readonly kb: VectorStore<PassageFilter>;
}

export function createVectorStores(transactions: Transactions, isIndexed: boolean): VectorStores {
  return {
    context: createVectorStore(transactions, 'context', isIndexed, readEntrySnapshot, matchingEntries),
    kb: createVectorStore(transactions, 'kb', isIndexed, readPassageSnapshot, matchingPassages),
  };
}

const dropAttemptsMax = 100;
const dropPauseMs = 2_000;

function createVectorStore<Filter>(
  transactions: Transactions,
  corpus: VectorCorpus,
  isIndexed: boolean,
  readSnapshot: Operation<NearestRequest<Filter>, VectorSnapshot>,
  matching: Operation<Filter, number[]>,
): VectorStore<Filter> {
  const { read, write } = transactions;
  return {
    ...createStore(transactions, vectorOperations, { corpus }),
    isIndexed,
    readSnapshot: (request, options) => read(readSnapshot, request, options),
    matching: (filter, options) => read(matching, filter, options),
    async drop(model) {
      // An index build or a backup may hold the table's lock for minutes.
      for (let attempt = 1; ; attempt += 1) {
        try {
          await write(forgetModel, { corpus, model });
          break;
        } catch (error) {
          if (!isCarrelError(error) || error.code !== 'storage_busy' || attempt === dropAttemptsMax) throw error;
        }
        await delay(dropPauseMs, undefined, { ref: false });
      }
      while (await write(dropVectors, { corpus }));
    },
  };
}
