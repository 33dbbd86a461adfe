import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { postgresRoot } from './install-postgres.ts';
import { runStatement, serverObstacle, sharedTemplate, sharedUrlVariable } from './postgres.ts';
import { createPostgresProcess } from './postgres-process.ts';

/**
 * Nothing survives a crash of the machine, and nothing needs to: the data go with the run. More connections would also give the
 * server room for the 20,000 locks of which test/contract/many-threads shows that nobody needs them.
 */
const quick = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: 200 };

/**
 * One PostgreSQL for all files of a run but those that stop or kill theirs, with a database of our schema from which they copy
 * their own. Undefined if there is a server already, none can be had, or a single file may as well start its own.
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
  // A database that somebody, such as autovacuum, is connected to cannot be copied.
  await runStatement(server.url, `ALTER DATABASE ${sharedTemplate} ALLOW_CONNECTIONS false`);
  process.env[sharedUrlVariable] = server.url;
  return { stop: () => server.remove() };
}
