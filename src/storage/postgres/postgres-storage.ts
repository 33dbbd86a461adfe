import { createBackgroundWork } from '../background-work.ts';
import type { Dialect, Operation, Statements } from '../dialect.ts';
import { replicaReads } from '../operations.ts';
import type { BoundValue } from '../rows.ts';
import { createStorage, type Storage, type StorageDeps } from '../storage.ts';
import type { Transactions } from '../transactions.ts';
import { applyAnalysis } from '../words/word-analysis.ts';
import { type Connections, createConnections, type PostgresConfig } from './connections/connections.ts';
import { createNotices } from './connections/notices.ts';
import { createReplica, type Replica } from './connections/replica.ts';
import { createServers } from './connections/servers.ts';
import type { Connection } from './connections/transaction.ts';
import { createPostgresDialect } from './dialect.ts';
import { migrate } from './migrate.ts';
import { createOriginals } from './originals.ts';
import { createSharedStore } from './shared-store.ts';
import { createNearest } from './vectors/vector-table.ts';
import { createTokenizer } from './words/tokenizer.ts';

/** Connects to a PostgreSQL database and migrates it to the newest schema. Several machines may use one database. */
export async function createPostgresStorage(config: PostgresConfig, deps: StorageDeps = {}): Promise<Storage> {
  const servers = createServers(config.url);
  const readPrimary: Connections['read'] = (work) => connections.read(work);
  const replica = config.readUrl === undefined ? undefined : createReplica(config.readUrl, config, readPrimary);
  const connections = createConnections(config, { servers, afterCommit: replica?.afterCommit });
  const tokenizer = createTokenizer();
  const background = createBackgroundWork({ logger: deps.logger, shared: () => storage?.shared });
  let storage: Storage | undefined;
  const close = async () => {
    background.close();
    await replica?.close();
    await connections.close();
    await tokenizer.close();
  };
  const now = deps.now ?? (() => new Date());
  try {
    await migrate(connections);
    const nearest = await createNearest(connections, { background, shared: () => storage?.shared });
    const dialect = createPostgresDialect(tokenizer, nearest);
    const transactions = createPostgresTransactions({ connections, replica }, dialect, now);
    await applyAnalysis(transactions, config.language);
    const notices = createNotices(config, connections, servers);
    storage = createStorage({
      backend: 'postgres',
      transactions,
      createOriginals,
      hasVectorIndex: nearest !== undefined,
      connections: () => ({ backend: 'postgres', ...connections.count() }),
      replica,
      background,
      createShared: (metered) => createSharedStore(metered, notices, background),
      async close() {
        await notices.close();
        await close();
      },
    });
    return storage;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs each operation in a separate transaction on a pooled connection. */
function createPostgresTransactions(
  { connections, replica }: { readonly connections: Connections; readonly replica: Replica | undefined },
  dialect: Dialect,
  now: () => Date,
): Transactions {
  const bind =
    <Request, Answer>(operation: Operation<Request, Answer>, request: Request, time = now().toISOString()) =>
    (connection: Connection) =>
      operation({ dialect, now: time, ...withQuestionMarks(connection) }, request);
  return {
    write: (operation, request) => connections.write(bind(operation, request)),
    async read(operation, request, options) {
      const work = bind(operation, request);
      const onPrimary = () => connections.read(work, options);
      return replica !== undefined && replicaReads.has(operation)
        ? replica.read(work, onPrimary, options)
        : onPrimary();
    },
    withoutTimeout: (operation, request) => connections.write(bind(operation, request), { isLong: true }),
  };
}

/** Accepts statements with question marks, as stores write them. */
export function withQuestionMarks(connection: Connection): Pick<Statements, 'query'> {
  return { query: (sql, values = []) => connection.query(numbered(sql), values.map(bound)) };
}

/** Replaces question marks with `$1`, `$2` and so on. Carrel's statements contain no other question marks. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

function bound(value: BoundValue): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // Without a Buffer, the driver would send the bytes as a list of numbers.
  return 'list' in value ? value.list : Buffer.from(value);
}
