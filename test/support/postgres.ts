import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { installPostgres, postgresRoot } from './install-postgres.ts';
import { createPostgresProcess } from './postgres-process.ts';

export interface PostgresServer {
  /** A database in which tests may create and drop anything. */
  readonly url: string;
  /** Kills and restarts the server, as a crash would. Undefined if tests didn't start the server. */
  readonly restart: (() => Promise<void>) | undefined;
  /** A database with our schema to copy, so that tests need no migration. */
  readonly template?: string;
  /** Creates a database. Undefined if `CREATE DATABASE` works. */
  readonly createDatabase?: () => Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Returns PostgreSQL with pgvector: the server in DATABASE_URL, else one started for the tests, else PGlite. If none works,
 * returns the reason. `CARREL_TEST_POSTGRES=pglite` forces PGlite.
 */
export async function startPostgres(): Promise<PostgresServer | string> {
  if (serverObstacle() === undefined) return startRealPostgres();
  const { createPglite } = await import('./pglite.ts');
  return createPglite();
}

/** The environment variable with the address of the server that `scripts/test.ts` starts for all files of a run. */
export const sharedUrlVariable = 'CARREL_TEST_SHARED_POSTGRES';
export const sharedTemplate = 'carrel_template';

/**
 * Returns the server in DATABASE_URL, else the one that all files of a run share, else a new one. If there is none, returns the
 * reason as a string.
 */
export async function startRealPostgres(): Promise<PostgresServer | string> {
  const url = process.env[sharedUrlVariable];
  if (url === undefined) return startOwnPostgres();
  return { url, template: sharedTemplate, restart: undefined, stop: async () => {} };
}

/**
 * Starts a server for tests that stop or kill theirs. It comes from Debian's packages, in a folder that later runs reuse
 * (`CARREL_POSTGRES_ROOT`, or one in the cache). If DATABASE_URL is set, returns that server, which can't be restarted.
 */
export async function startOwnPostgres(): Promise<PostgresServer | string> {
  const url = process.env['DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, restart: undefined, stop: async () => {} };
  const root = postgresRoot();
  const obstacle = installPostgres(root);
  return obstacle ?? startServer(root);
}

/** Returns the name of the database server, for the names of suites. */
export function postgresName(): string {
  const obstacle = serverObstacle();
  return obstacle === undefined ? 'PostgreSQL' : `PGlite (${obstacle})`;
}

/** Returns why no real server is available, for suites that need parallel connections, timeouts or crashes. */
export function serverObstacle(): string | undefined {
  if (process.env['CARREL_TEST_POSTGRES'] === 'pglite') return 'CARREL_TEST_POSTGRES=pglite';
  if (process.env['DATABASE_URL']) return undefined;
  return installPostgres(postgresRoot());
}

/** Returns why neither a server nor PGlite is available. */
export function postgresObstacle(): string | undefined {
  if (serverObstacle() === undefined) return undefined;
  try {
    import.meta.resolve('@electric-sql/pglite');
    return undefined;
  } catch {
    return serverObstacle();
  }
}

/** Creates a database without data. On the shared server it already has our schema. */
export async function createTestDatabase(server: PostgresServer): Promise<TestDatabase> {
  if (server.createDatabase !== undefined) return server.createDatabase();
  if (server.template === undefined) return createEmptyDatabase(server);
  // Copying files takes a third of the CPU time of copying through the log.
  const { url } = await copyDatabase(server, `${server.template} STRATEGY file_copy`);
  // The shared server is removed as a whole. ext4 creates files four times as slowly for half a minute after many were removed.
  return { url, drop: async () => {} };
}

/** Creates a database without tables. */
async function createEmptyDatabase(server: PostgresServer): Promise<TestDatabase> {
  return copyDatabase(server, 'template0');
}

async function copyDatabase(server: PostgresServer, template: string): Promise<TestDatabase> {
  const name = `carrel_test_${randomUUID().replaceAll('-', '')}`;
  await runStatement(server.url, `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8'`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runStatement(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Runs a statement on a separate connection, outside a transaction. */
export async function runStatement(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/**
 * Creates a database without pgvector. Its user owns a schema for Carrel and may not install extensions. Returns undefined if the
 * server doesn't let us create users.
 */
export async function createPlainDatabase(server: PostgresServer): Promise<TestDatabase | undefined> {
  const { url, drop } = await createEmptyDatabase(server);
  const user = `carrel_plain_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(16).toString('hex');
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`);
    await admin.query(`CREATE SCHEMA carrel AUTHORIZATION ${user}`);
  } catch {
    await drop();
    return undefined;
  } finally {
    await admin.end();
  }
  const userUrl = new URL(url);
  userUrl.username = user;
  userUrl.password = password;
  return {
    url: userUrl.href,
    async drop() {
      await drop();
      await runStatement(server.url, `DROP ROLE IF EXISTS ${user}`);
    },
  };
}

async function startServer(root: string): Promise<PostgresServer> {
  const server = await createPostgresProcess(root);
  await server.start();
  return {
    url: server.url,
    async restart() {
      await server.kill();
      await server.start();
    },
    stop: server.remove,
  };
}
