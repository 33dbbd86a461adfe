import type { VectorStore } from '../../storage/contracts/vectors.ts';
import { bestOfOwners, type NearestVectors } from './nearest-vectors.ts';

/** For a database that finds the nearest vectors itself: nothing is kept in memory. */
export function createStoredNearest<Filter>(
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
