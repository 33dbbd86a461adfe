import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { postgresRoot } from './install-postgres.ts';
import { runStatement, serverObstacle, sharedTemplate, sharedUrlVariable } from './postgres.ts';
import { createPostgresProcess } from './postgres-process.ts';

/**
 * The data need not survive a crash: it is removed after the run. `max_connections` stays small because it also raises the
 * number of locks, and test/contract/many-threads checks that 20,000 locks are not needed.
 */
const quick = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: 200 };

/**
 * One PostgreSQL for all files of a run, except files that stop or kill their server. Files copy a database with our schema.
 * Undefined if there is a server already, none is available, or only one file needs it.
 */
export async function startSharedPostgres(files: readonly string[]): Promise<{ stop(): Promise<void> } | undefined> {
  if (files.filter((name) => name.startsWith('test/')).length < 2) return undefined;
  if (process.env['DATABASE_URL'] || serverObstacle() !== undefined) return undefined;
  const server = await createPostgresProcess(postgresRoot());
  await server.start(quick);
  await runStatement(server.url, `CREATE DATABASE ${sharedTemplate} TEMPLATE template0 ENCODING 'UTF8'`);
  const connections = createConnections({ url: server.url.replace(/[^/]*$/, sharedTemplate) });
  await migrate(connections);
  await connections.close();
  // A database with connections, such as autovacuum's, can't be copied.
  await runStatement(server.url, `ALTER DATABASE ${sharedTemplate} ALLOW_CONNECTIONS false`);
  process.env[sharedUrlVariable] = server.url;
  return { stop: () => server.remove() };
}
