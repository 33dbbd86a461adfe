import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

export interface PostgresServer {
  /** Of a database in which anything may be made and dropped. */
  readonly url: string;
  /** Kills and starts the server, as a crash would. Only for a server of our own. */
  readonly restart: (() => Promise<void>) | undefined;
  /** Where a database is made in another way than by a statement. */
  readonly createDatabase?: () => Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * PostgreSQL with pgvector: the one that DATABASE_URL names, else one of our own, else PGlite. `CARREL_TEST_POSTGRES=pglite`
 * asks for the last one where the others can be had.
 */
export async function startPostgres(): Promise<PostgresServer | string> {
  if (serverObstacle() === undefined) return startRealPostgres();
  const { createPglite } = await import('./pglite.ts');
  return createPglite();
}

/**
 * A server: the one that DATABASE_URL names, else one of our own, from Debian's packages in a folder that later runs use
 * again (`CARREL_POSTGRES_ROOT`, or one below the temporary folder). Gives the reason, as text, where neither can be had.
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

/** Why suites cannot have any PostgreSQL. */
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
 * A database whose user has a schema for Carrel and no right to install pgvector, which is not there. Undefined where the
 * server is somebody else's and does not let us make users.
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

const binaries = '/usr/lib/postgresql/17/bin';

function postgresRoot(): string {
  return process.env['CARREL_POSTGRES_ROOT'] ?? join(tmpdir(), 'carrel-postgres-17');
}

/** Takes about two minutes and 740 MB the first time. The reason why it cannot be done, or nothing. */
function installPostgres(root: string): string | undefined {
  if (isInstalled(root)) return undefined;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return 'no DATABASE_URL, and only root on Linux can install a PostgreSQL of our own';
  }
  try {
    locked(`${root}.lock`, () => {
      if (isInstalled(root)) return;
      if (!has('debootstrap')) {
        // A new machine has no lists of packages, and without them nothing can be installed.
        run('apt-get', ['update']);
        run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap']);
      }
      const unfinished = `${root}.${process.pid}`;
      run('debootstrap', ['--variant=minbase', `--include=${packages}`, 'trixie', unfinished]);
      rmSync(root, { recursive: true, force: true });
      renameSync(unfinished, root);
    });
    return undefined;
  } catch (error) {
    return `no DATABASE_URL, and PostgreSQL cannot be installed: ${error instanceof Error ? error.message : error}`;
  }
}

const packages = 'postgresql-17,postgresql-17-pgvector';

function isInstalled(root: string): boolean {
  // pgvector is unpacked last of what we need.
  return (
    existsSync(join(root, binaries, 'postgres')) &&
    existsSync(join(root, '/usr/share/postgresql/17/extension/vector.control'))
  );
}

function has(command: string): boolean {
  return ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].some((folder) => existsSync(join(folder, command)));
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** Test files run in processes of their own, and several may find that nothing is installed yet. */
function locked(folder: string, work: () => void): void {
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch {
      const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > 15 * 60_000) rmSync(folder, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
  }
  try {
    work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startServer(root: string): Promise<PostgresServer> {
  const id = randomBytes(6).toString('hex');
  const folder = `/var/lib/postgresql/carrel-${id}`;
  const password = randomBytes(16).toString('hex');
  const passwordFile = `/var/lib/postgresql/carrel-${id}.password`;
  writeFileSync(join(root, passwordFile), password, { mode: 0o644 });
  inRoot(root, 'initdb', [
    '-D',
    folder,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-U',
    'carrel',
    '-E',
    'UTF8',
  ]);
  const port = await freePort();
  const url = `postgres://carrel:${password}@127.0.0.1:${port}/postgres`;
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 100 };
  const args = ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];

  let server = await launch();
  return {
    url,
    async restart() {
      await end(server, 'SIGKILL');
      // A killed postmaster leaves this behind; its children end by themselves.
      rmSync(join(root, folder, 'postmaster.pid'), { force: true });
      await delay(500);
      server = await launch();
    },
    async stop() {
      // At once: its data go with it.
      await end(server, 'SIGQUIT');
      rmSync(join(root, folder), { recursive: true, force: true });
      rmSync(join(root, passwordFile), { force: true });
    },
  };

  async function launch() {
    const child = spawn('chroot', [root, ...asPostgres('postgres'), ...args], { stdio: 'ignore' });
    for (let attempt = 0; ; attempt += 1) {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
        await client.end();
        // Whoever forgets to stop it is not held up by it; it ends with its parent.
        child.unref();
        return child;
      } catch (error) {
        if (attempt >= 100 || child.exitCode !== null) throw error;
        await delay(100);
      }
    }
  }
}

function inRoot(root: string, program: string, args: readonly string[]): void {
  run('chroot', [root, ...asPostgres(program), ...args]);
}

/** PostgreSQL refuses to run as root. The signal ends the server when the process that started it is gone. */
function asPostgres(program: string): string[] {
  const user = ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=INT'];
  return ['setpriv', ...user, `${binaries}/${program}`];
}

async function end(child: ReturnType<typeof spawn>, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.ref();
  child.kill(signal);
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
