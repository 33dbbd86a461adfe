import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { postgresRoot } from './install-postgres.ts';
import { runStatement, serverObstacle, sharedTemplate, sharedUrlVariable } from './postgres.ts';
import { createPostgresProcess } from './postgres-process.ts';

/**
 * Settings for speed. The data is removed after the run, so it need not survive a crash. The product of the last two is the size of
 * the lock table. It is as small as by default, because test/contract/many-threads needs more threads than there are locks.
 */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: 200,
  max_locks_per_transaction: 32,
};

/**
 * Starts one PostgreSQL server for all files of a run, except files that stop or kill their server. Each file copies a database with
 * our schema. Returns undefined if a server is configured, none can be started, or only one file needs it.
 */
export async function startSharedPostgres(files: readonly string[]): Promise<{ stop(): Promise<void> } | undefined> {
  if (files.filter((name) => name.startsWith('test/')).length < 2) return undefined;
  if (process.env['DATABASE_URL'] || serverObstacle() !== undefined) return undefined;
  const server = await createPostgresProcess(postgresRoot());
  await server.start(fastSettings);
  await runStatement(server.url, `CREATE DATABASE ${sharedTemplate} TEMPLATE template0 ENCODING 'UTF8'`);
  const connections = createConnections({ url: server.url.replace(/[^/]*$/, sharedTemplate) });
  await migrate(connections);
  await connections.close();
  // A database can't be copied while it has connections.
  await runStatement(server.url, `ALTER DATABASE ${sharedTemplate} ALLOW_CONNECTIONS false`);
  process.env[sharedUrlVariable] = server.url;
  return { stop: () => server.remove() };
}
