import type { Storage, StorageDeps } from '../contracts/storage.ts';
import { createStorage } from '../create-storage.ts';
import type { Dialect, Operation, Statements } from '../dialect.ts';
import type { BoundValue } from '../rows.ts';
import { settleAnalysis } from '../stores/words/word-analysis.ts';
import type { Transactions } from '../transactions.ts';
import { type Connections, createConnections, type PostgresConfig } from './connections.ts';
import { createPostgresDialect } from './dialect.ts';
import { createFreshStatistics } from './fresh-statistics.ts';
import { labelWords } from './label-words.ts';
import { migrate } from './migrate.ts';
import { createNearest } from './nearest.ts';
import { createNotices } from './notices.ts';
import { createOriginals } from './originals.ts';
import { createReplica, type Replica } from './replica.ts';
import { replicaReads } from './replica-reads.ts';
import { createServers } from './servers.ts';
import { createSharedStore } from './shared-store.ts';
import { createTextCutter } from './text-cutter.ts';
import type { Connection } from './transaction.ts';
import { createWordShares } from './word-shares.ts';

/** Connects to a PostgreSQL database that several machines may serve, and brings it to our schema. */
export async function createPostgresStorage(config: PostgresConfig, deps: StorageDeps = {}): Promise<Storage> {
  const servers = createServers(config.url);
  const replica = config.readUrl === undefined ? undefined : createReplica(config.readUrl, config, servers);
  const connections = createConnections(config, servers, replica?.afterCommit);
  const cutter = createTextCutter();
  const close = async () => {
    await replica?.close();
    await connections.close();
    await cutter.close();
  };
  const now = deps.now ?? (() => new Date());
  try {
    await migrate(connections);
    // In the background; whoever starts next tries again.
    void labelWords(connections).catch(() => {});
    const nearest = await createNearest(connections, config);
    const shares = createWordShares(connections);
    const statistics = createFreshStatistics(connections, shares);
    const dialect = createPostgresDialect({ indexes: nearest?.indexes, statistics, shares, cutter });
    const reads = new Set([...replicaReads, nearest?.operations.context, nearest?.operations.kb]);
    const transactions = createPostgresTransactions(
      { connections, replica, reads },
      dialect,
      now,
      statistics.committed,
    );
    await settleAnalysis(transactions, config.language);
    const notices = createNotices(config, connections, servers);
    return createStorage({
      backend: 'postgres',
      transactions,
      createOriginals,
      nearest: nearest?.operations,
      connections: () => ({ backend: 'postgres', ...connections.count() }),
      replica,
      createShared: (metered) => createSharedStore(metered, notices),
      async close() {
        await notices.close();
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Places {
  readonly connections: Connections;
  readonly replica: Replica | undefined;
  /** What the replica may answer. */
  readonly reads: ReadonlySet<unknown>;
}

/** Performs operations on a connection of its own each. */
function createPostgresTransactions(
  { connections, replica, reads }: Places,
  dialect: Dialect,
  now: () => Date,
  committed: () => void,
): Transactions {
  const performed =
    <Request, Answer>(operation: Operation<Request, Answer>, request: Request, time = now().toISOString()) =>
    (connection: Connection) =>
      operation(statementsOn(connection, dialect, time), request);
  return {
    async write(operation, request) {
      const answer = await connections.write(performed(operation, request));
      committed();
      return answer;
    },
    async read(operation, request, options) {
      const work = performed(operation, request);
      const answered = reads.has(operation) ? await replica?.read(work, options) : undefined;
      return answered === undefined ? connections.read(work, options) : answered.answer;
    },
    alone: (operation, request) => connections.alone(performed(operation, request)),
  };
}

function statementsOn(connection: Connection, dialect: Dialect, now: string): Statements {
  return { dialect, now, ...withQuestionMarks(connection) };
}

/** Takes statements as stores write them. */
export function withQuestionMarks(connection: Connection): Pick<Statements, 'query'> {
  return { query: (sql, values = [], place) => connection.query(numbered(sql), values.map(bound), place) };
}

/** Our statements hold no question mark besides those for values. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

function bound(value: BoundValue): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // A view of bytes would be sent as a list of numbers.
  return 'list' in value ? value.list : Buffer.from(value);
}
