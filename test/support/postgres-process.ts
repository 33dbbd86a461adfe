import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { binaries } from './install-postgres.ts';

/** A server on loopback whose data folder is removed with it. */
export interface PostgresProcess {
  readonly url: string;
  readonly port: number;
  /** Starts the server and waits until it answers. */
  start(settings?: Readonly<Record<string, string | number>>): Promise<void>;
  /** Stops the server immediately, as a crash would. Its data stays. */
  kill(): Promise<void>;
  /** Creates a standby of this server, without starting it. */
  createStandby(): Promise<PostgresProcess>;
  remove(): Promise<void>;
}

export async function createPostgresProcess(root: string): Promise<PostgresProcess> {
  const location = makeFolder(root, randomBytes(16).toString('hex'));
  const passwordFile = join(location.folder, 'password');
  writeFileSync(passwordFile, location.password);
  giveToServerUser(passwordFile);
  // One iteration is enough for random passwords. The usual 4,096 would cost CPU time at every connection.
  const authentication = [
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-U',
    'carrel',
    '-c',
    'scram_iterations=1',
  ];
  runAsServerUser(root, 'initdb', [
    '-D',
    location.data,
    ...authentication,
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ]);
  return createProcess(location);
}

interface ServerFolder {
  readonly root: string;
  readonly password: string;
  readonly folder: string;
  readonly data: string;
}

function makeFolder(root: string, password: string): ServerFolder {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-postgres-'));
  chmodSync(folder, 0o700);
  giveToServerUser(folder);
  return { root, password, folder, data: join(folder, 'data') };
}

async function createProcess(location: ServerFolder): Promise<PostgresProcess> {
  const { root, password, folder, data } = location;
  const log = join(folder, 'log');
  const port = await freePort();
  const url = `postgres://carrel:${password}@127.0.0.1:${port}/postgres`;
  let args: string[] = [];
  let server: ChildProcess | undefined;
  return {
    url,
    port,
    async start(extraSettings = {}) {
      const settings = {
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        max_connections: 100,
        ...extraSettings,
      };
      args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
      server = await launch();
    },
    async kill() {
      if (server) await endProcess(server, 'SIGKILL');
      // A killed postmaster leaves this file; its children exit later.
      rmSync(join(data, 'postmaster.pid'), { force: true });
    },
    createStandby: () => createCopy(location, url),
    async remove() {
      // SIGQUIT stops the server immediately; its data is removed anyway.
      if (server) await endProcess(server, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  /** Starts the server and waits until it answers. Retries while children of a killed server keep it from starting. */
  async function launch(): Promise<ChildProcess> {
    const deadline = Date.now() + 60_000;
    for (let child = spawnServer(); ; ) {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
        await client.end();
        // A test that forgets to stop the server can still end, and the server ends with it.
        child.unref();
        return child;
      } catch (error) {
        if (Date.now() > deadline)
          throw new Error(`PostgreSQL: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause: error });
        await delay(100);
        if (hasEnded(child)) child = spawnServer();
      }
    }
  }

  function spawnServer(): ChildProcess {
    const output = openSync(log, 'a');
    const [program, ...programArgs] = [...startCommand(), join(root, binaries, 'postgres')];
    const child = spawn(program, [...programArgs, ...args], { stdio: ['ignore', 'ignore', output] });
    closeSync(output);
    return child;
  }
}

/** Copies a running server as pg_basebackup does: copies its folder between two calls that make the copy consistent. */
async function createCopy(original: ServerFolder, url: string): Promise<PostgresProcess> {
  const { root, password } = original;
  const copy = makeFolder(root, password);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_backup_start('standby', true)");
  run([...startCommand(), 'cp', '-a', original.data, copy.data]);
  const { rows } = await client.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop(false)');
  await client.end();
  rmSync(join(copy.data, 'postmaster.pid'), { force: true });
  const { port } = new URL(url);
  const primary = `host=127.0.0.1 port=${port} user=carrel password=${password} application_name=standby`;
  const files = {
    backup_label: rows[0]?.label ?? '',
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = '${primary}'\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(copy.data, name), text);
    giveToServerUser(join(copy.data, name));
  }
  return createProcess(copy);
}

export const nobody = 65_534;

function giveToServerUser(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, nobody, nobody);
}

function runAsServerUser(root: string, program: string, args: readonly string[]): void {
  run([...startCommand(), join(root, binaries, program), ...args]);
}

function run([command = '', ...args]: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Returns the command that starts a server. It drops root rights, which PostgreSQL refuses, and stops the server with its parent. */
export function startCommand(): [string, ...string[]] {
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  return ['setpriv', ...(process.getuid?.() === 0 ? user : []), '--pdeathsig=INT'];
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
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
