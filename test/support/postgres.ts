import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { binaries, installPostgres, postgresRoot } from './install-postgres.ts';

export interface PostgresServer {
  /** Of a database in which anything may be created and dropped. */
  readonly url: string;
  /** Kills and starts the server, as a crash would. Only for a server of our own. */
  readonly restart: (() => Promise<void>) | undefined;
  /** If a database is created in another way than by a statement. */
  readonly createDatabase?: () => Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * PostgreSQL with pgvector: the one that DATABASE_URL names, else one of our own, else PGlite. `CARREL_TEST_POSTGRES=pglite`
 * asks for the last one even if the others are available.
 */
export async function startPostgres(): Promise<PostgresServer | string> {
  if (serverObstacle() === undefined) return startRealPostgres();
  const { createPglite } = await import('./pglite.ts');
  return createPglite();
}

/**
 * A server: the one that DATABASE_URL names, else one of our own, from Debian's packages in a folder that later runs use
 * again (`CARREL_POSTGRES_ROOT`, or one below the temporary folder). Returns the reason, as text, if neither is available.
 */
export async function startRealPostgres(): Promise<PostgresServer | string> {
  const url = process.env['DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, restart: undefined, stop: async () => {} };
  const root = postgresRoot();
  const obstacle = installPostgres(root);
  return obstacle ?? startServer(root);
}

/** What the suites run on, as their names say. */
export function postgresName(): string {
  const obstacle = serverObstacle();
  return obstacle === undefined ? 'PostgreSQL' : `PGlite (${obstacle})`;
}

/** Why there is no server, for suites that need one: several connections at once, time limits, a crash. */
export function serverObstacle(): string | undefined {
  if (process.env['CARREL_TEST_POSTGRES'] === 'pglite') return 'CARREL_TEST_POSTGRES=pglite';
  if (process.env['DATABASE_URL']) return undefined;
  return installPostgres(postgresRoot());
}

/** Why there is no PostgreSQL for the suites. */
export function postgresObstacle(): string | undefined {
  if (serverObstacle() === undefined) return undefined;
  try {
    import.meta.resolve('@electric-sql/pglite');
    return undefined;
  } catch {
    return serverObstacle();
  }
}

/** An empty database on the server, and its removal. */
export async function createTestDatabase(server: PostgresServer): Promise<TestDatabase> {
  if (server.createDatabase !== undefined) return server.createDatabase();
  const name = `carrel_test_${randomUUID().replaceAll('-', '')}`;
  const command = async (sql: string) => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  // The order of a language must not decide anything; a locale that is not C shows where it would.
  await command(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => command(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/**
 * A database without pgvector, whose user has a schema for Carrel and may not install extensions. Undefined if the
 * server is not ours and does not let us create users.
 */
export async function createPlainDatabase(server: PostgresServer): Promise<TestDatabase | undefined> {
  const { url, drop } = await createTestDatabase(server);
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
  const own = new URL(url);
  own.username = user;
  own.password = password;
  return {
    url: own.href,
    async drop() {
      await drop();
      const last = new Client({ connectionString: server.url });
      await last.connect();
      await last.query(`DROP ROLE IF EXISTS ${user}`);
      await last.end();
    },
  };
}

async function startServer(root: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-postgres-'));
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  chmodSync(folder, 0o700);
  if (process.getuid?.() === 0) for (const path of [folder, passwordFile]) chownSync(path, nobody, nobody);
  const authentication = ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-U', 'carrel'];
  const [command, ...initdb] = [...starter(), join(root, binaries, 'initdb')];
  execFileSync(command, [...initdb, '-D', data, ...authentication, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const port = await freePort();
  const url = `postgres://carrel:${password}@127.0.0.1:${port}/postgres`;
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 100 };
  const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];

  let server = await launch();
  return {
    url,
    async restart() {
      await end(server, 'SIGKILL');
      // A killed postmaster leaves this behind; its children end by themselves.
      rmSync(join(data, 'postmaster.pid'), { force: true });
      server = await launch();
    },
    async stop() {
      // At once: its data go with it.
      await end(server, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };

  /** Until it answers. It refuses to start while children of one that was killed are still there, and is started again. */
  async function launch(): Promise<ChildProcess> {
    const deadline = Date.now() + 60_000;
    for (let child = spawned(); ; ) {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
        await client.end();
        // It does not keep a test alive that forgets to stop it; it ends with its parent.
        child.unref();
        return child;
      } catch (error) {
        if (Date.now() > deadline)
          throw new Error(`PostgreSQL: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause: error });
        await delay(100);
        if (hasEnded(child)) child = spawned();
      }
    }
  }

  function spawned(): ChildProcess {
    const output = openSync(log, 'a');
    const [first, ...rest] = [...starter(), join(root, binaries, 'postgres')];
    const child = spawn(first, [...rest, ...args], { stdio: ['ignore', 'ignore', output] });
    closeSync(output);
    return child;
  }
}

export const nobody = 65_534;

/** PostgreSQL refuses to run as root. The signal ends the server when the process that started it is gone. */
export function starter(): [string, ...string[]] {
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  return ['setpriv', ...(process.getuid?.() === 0 ? user : []), '--pdeathsig=INT'];
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.ref();
  child.kill(signal);
  await ended;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
