import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createStorage } from '../create-storage.ts';
import { settleAnalysis } from '../stores/words/word-analysis.ts';
import { createConnections, type PostgresConfig } from './connections.ts';
import { createPostgresDialect } from './dialect.ts';
import { migrate } from './migrate.ts';
import { createNearest } from './nearest.ts';
import { createOriginals } from './originals.ts';
import { createPostgresTransactions } from './transactions.ts';

/** Connects to a PostgreSQL database that several machines may serve, and brings it to our schema. */
export async function createPostgresStorage(config: PostgresConfig, deps: StorageDeps = {}): Promise<Storage> {
  const connections = createConnections(config);
  const now = deps.now ?? (() => new Date());
  try {
    await migrate(connections);
    const nearest = await createNearest(connections);
    const transactions = createPostgresTransactions(connections, createPostgresDialect(nearest?.indexes), now);
    await settleAnalysis(transactions, config.language);
    return createStorage({
      backend: 'postgres',
      transactions,
      createOriginals,
      nearest: nearest?.operations,
      close: () => connections.close(),
    });
  } catch (error) {
    await connections.close();
    throw error;
  }
}
