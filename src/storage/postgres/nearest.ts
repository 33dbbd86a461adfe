import type { VectorCorpus } from '../contracts/vectors.ts';
import { matchingEntries } from '../stores/entries/read-entries.ts';
import type { NearestOperations } from '../stores/vectors/vector-store.ts';
import type { Connections } from './connections.ts';
import { createNearestIndexes, findExtension, type NearestIndexes } from './nearest-index.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import { passageCondition } from './passage-table.ts';

export interface Nearest {
  readonly indexes: Readonly<Record<VectorCorpus, NearestIndexes>>;
  readonly operations: NearestOperations;
}

/** Undefined without pgvector: nothing is found by the database then, and those who search keep an image of it. */
export async function createNearest(connections: Connections): Promise<Nearest | undefined> {
  const extension = await findExtension(connections);
  if (extension === undefined) return undefined;
  const indexes = {
    context: createNearestIndexes(connections, 'context', extension),
    kb: createNearestIndexes(connections, 'kb', extension),
  };
  return {
    indexes,
    operations: {
      // A filter of entries is more than a condition that a database could be asked.
      context: createNearestVectors('context', { extension, narrow: matchingEntries }),
      kb: createNearestVectors('kb', { extension, narrow: async (_, filter) => passageCondition(filter) }),
      removeIndex: (corpus, model) => indexes[corpus].remove(model),
    },
  };
}
