import type { EntryStore } from '../contracts/entries.ts';
import type { VectorStores } from '../contracts/storage.ts';
import { createIdSet } from '../id-set.ts';
import type { Connections, Statements } from './connections.ts';
import { createNearestIndexes } from './nearest-index.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import { matchingPassages, ownerFilter } from './passages.ts';
import { createVectorRows } from './vectors.ts';

/** Without pgvector (`extension` undefined) nothing is found by the database, and those who search keep an image of it. */
export function createVectorStores(
  connections: Connections,
  extension: string | undefined,
  entries: EntryStore,
): VectorStores {
  const deps = (corpus: 'context' | 'kb') =>
    extension === undefined
      ? undefined
      : { connections, extension, indexes: createNearestIndexes(connections, corpus, extension) };
  const [context, kb] = [deps('context'), deps('kb')];
  return {
    context: {
      ...createVectorRows(connections, 'context', context?.indexes),
      // A filter of entries is more than a condition that a database could be asked.
      nearest: context && createNearestVectors('context', { ...context, narrow: entries.matching }),
      matching: async (filter, options) => createIdSet(await entries.matching(filter, options)).pages,
    },
    kb: {
      ...createVectorRows(connections, 'kb', kb?.indexes),
      nearest: kb && createNearestVectors('kb', { ...kb, narrow: ownerFilter }),
      matching: async (filter, options) => {
        const read = (statements: Statements) => matchingPassages(statements, 'kb', filter);
        return createIdSet(await connections.read(read, options)).pages;
      },
    },
  };
}
