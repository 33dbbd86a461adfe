import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Client } from 'pg';
import type { Owner } from '../fakes/loopback-server.ts';
import { postgresRoot } from './install-postgres.ts';
import { pause } from './pause.ts';
import { serverObstacle } from './postgres.ts';
import { createPostgresProcess, type PostgresProcess } from './postgres-process.ts';

/** A primary, a standby that follows it by streaming replication, and a database on both. */
export interface ReplicatedPostgres {
  readonly primary: PostgresProcess;
  readonly standby: PostgresProcess;
  /** Returns the address of the database on one of the servers. */
  urlOn(server: PostgresProcess): string;
  /** An address that names both servers, in libpq's format. */
  readonly bothUrl: string;
  /** If true, commits wait for the standby. */
  setSynchronous(isSynchronous: boolean): Promise<void>;
  stop(): Promise<void>;
}

const database = 'carrel_replicated';

/** Returns why replication is unavailable, for suites that need it. */
export function replicationObstacle(): string | undefined {
  return process.env['DATABASE_URL'] ? 'needs two PostgreSQL servers that the tests start' : serverObstacle();
}

export async function startReplication(): Promise<ReplicatedPostgres> {
  const primary = await createPostgresProcess(postgresRoot());
  await primary.start();
  await runOn(primary.url, `CREATE DATABASE ${database}`);
  const standby = await primary.createStandby();
  await standby.start();
  const urlOn = ({ url }: PostgresProcess): string => url.replace(/[^/]*$/, database);
  return {
    primary,
    standby,
    urlOn,
    bothUrl: urlOn(primary).replace(/@([^/]+)/, `@$1,127.0.0.1:${standby.port}`),
    async setSynchronous(isSynchronous) {
      await runOn(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? 'standby' : ''}'`);
      await runOn(primary.url, 'SELECT pg_reload_conf()');
      // The server applies a changed setting asynchronously.
      const state = isSynchronous ? 'sync' : 'async';
      while ((await runOn(primary.url, stateQuery))[0]?.['sync_state'] !== state) await pause(20);
    },
    async stop() {
      await standby.remove();
      await primary.remove();
    },
  };
}

/** Creates an address that forwards to either server, like a virtual IP. `port` chooses the server. */
export async function startMovingAddress(t: Owner, address: string, port: () => number): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((clientSocket) => {
    const serverSocket = connect(port(), '127.0.0.1');
    for (const [source, destination] of [
      [clientSocket, serverSocket] as const,
      [serverSocket, clientSocket] as const,
    ]) {
      sockets.add(source);
      source.on('error', () => {});
      source.on('close', () => {
        sockets.delete(source);
        destination.destroy();
      });
      source.pipe(destination);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const movedUrl = new URL(address);
  movedUrl.port = String((server.address() as AddressInfo).port);
  return movedUrl.href;
}

const stateQuery = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'";

/** Runs a statement on a separate connection, outside a transaction. */
export async function runOn(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
