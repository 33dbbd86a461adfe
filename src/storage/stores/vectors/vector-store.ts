import type { EntryFilter } from '../../contracts/entry-filter.ts';
import type { PassageFilter } from '../../contracts/passages.ts';
import type { VectorStores } from '../../contracts/storage.ts';
import type { NearestRequest, ScoredVector, VectorCorpus, VectorStore } from '../../contracts/vectors.ts';
import type { Operation } from '../../dialect.ts';
import { createIdSet } from '../../id-set.ts';
import type { Transactions } from '../../transactions.ts';
import { matchingEntries } from '../entries/read-entries.ts';
import { matchingPassages } from '../passages/read-passages.ts';
import { claimTexts, otherClaims, releaseClaims, renewClaims } from './claim-texts.ts';
import { chooseModel, dropVectors, forgetModel, listModels } from './models.ts';
import { packVectors, removedVectors, scoreVectors, vectorState, vectorsAfter } from './read-vectors.ts';
import { unembeddedOwners, waitingTexts } from './texts-to-embed.ts';
import { putVectors } from './write-vectors.ts';

/** Where the database finds the nearest vectors itself. */
export interface NearestOperations {
  readonly context: Operation<NearestRequest<EntryFilter>, ScoredVector[]>;
  readonly kb: Operation<NearestRequest<PassageFilter>, ScoredVector[]>;
  removeIndex(corpus: VectorCorpus, model: number): Promise<void>;
}

export function createVectorStores(transactions: Transactions, nearest?: NearestOperations): VectorStores {
  const { read } = transactions;
  return {
    context: {
      ...createVectorStore(transactions, 'context', nearest),
      nearest: nearest && ((request, options) => read(nearest.context, request, options)),
      matching: async (filter, options) => createIdSet(await read(matchingEntries, filter, options)).pages,
    },
    kb: {
      ...createVectorStore(transactions, 'kb', nearest),
      nearest: nearest && ((request, options) => read(nearest.kb, request, options)),
      matching: (filter, options) => read(matchingPassages, filter, options),
    },
  };
}

function createVectorStore(
  { read, write }: Transactions,
  corpus: VectorCorpus,
  nearest: NearestOperations | undefined,
): Omit<VectorStore<never>, 'matching' | 'nearest'> {
  return {
    choose: (model) => write(chooseModel, { corpus, model }),
    waiting: (request) => read(waitingTexts, { corpus, ...request }),
    async claim(request) {
      const { free, others } = await read(otherClaims, { corpus, ...request });
      return free ? write(claimTexts, { corpus, ...request }) : { owners: [], others };
    },
    renew: (request) => write(renewClaims, { corpus, ...request }),
    release: (request) => write(releaseClaims, { corpus, ...request }),
    unembedded: ({ model }, options) => read(unembeddedOwners, { corpus, model }, options),
    put: (request) => write(putVectors, { corpus, ...request }),
    state: ({ model }, options) => read(vectorState, { corpus, model }, options),
    after: (request, options) => read(vectorsAfter, { corpus, ...request }, options),
    async pack(model, { signal } = {}) {
      for (let after: number | undefined = 0; after !== undefined && signal?.aborted !== true; )
        after = await write(packVectors, { corpus, model, after });
    },
    removedAfter: (request, options) => read(removedVectors, { corpus, ...request }, options),
    score: (request, options) => read(scoreVectors, { corpus, ...request }, options),
    models: (options) => read(listModels, corpus, options),
    async drop(model) {
      for (const key of await write(forgetModel, { corpus, model })) await nearest?.removeIndex(corpus, key);
      while (await write(dropVectors, corpus));
    },
  };
}
