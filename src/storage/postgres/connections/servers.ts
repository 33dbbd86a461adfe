import { resolve } from 'node:path';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import { CarrelError } from '../../../base/errors.ts';
import type { Row } from '../../rows.ts';
import { storageError } from './storage-error.ts';
import type { Connection } from './transaction.ts';

/** The servers in one address. One of them is in use. */
export interface Servers {
  /** Connects to the first server that is available. Throws the last server's error if none is. */
  connect<Connected>(connect: () => Promise<Connected>): Promise<Connected>;
  /** Creates a client that is not connected yet. With several servers, connecting fails if the server has another role. */
  client(options: ClientConfig): Client;
  /** Client class for a connection pool. */
  readonly Client: typeof Client;
  /** Makes the next connection go to another server. Call it if the client's server is no longer of the requested role. */
  leave(client: ClientBase): void;
}

export type ServerRole = 'primary' | 'standby';

/**
 * Creates the servers of an address, which may name several, as in libpq:
 * `postgres://user:password@one:5432,two:5432/database`. The first server of the requested role is used until it is down or changes its
 * role.
 */
export function createServers(address: string, role: ServerRole = 'primary'): Servers {
  const urls = serverUrls(address, role);
  // Starts with a random replica, so that processes spread over all of them.
  let current = role === 'primary' ? 0 : Math.floor(Math.random() * urls.length);
  let moves = 0;
  const leaveUrl = (url: string): void => {
    if (urls.length === 1 || urls[current] !== url) return;
    current = (current + 1) % urls.length;
    moves += 1;
  };

  class ServerClient extends Client {
    readonly #url: string;
    constructor(options: ClientConfig = {}) {
      const url = urls[current] ?? address;
      const defaults = { application_name: 'carrel', keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
      super({ ...defaults, ...options, connectionString: url });
      this.#url = url;
      // Without a listener, the process would exit. The error can be ignored, because the client's next statement fails anyway.
      this.on('error', () => {});
    }
    override connect(): Promise<void>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<void> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      // Called outside the promise chain, so that an exception in the callback does not count as a failure to connect.
      connected.then(
        () => process.nextTick(callback, undefined),
        (error) => process.nextTick(callback, error),
      );
      return undefined;
    }
    async #connect(): Promise<void> {
      try {
        await super.connect();
        if (urls.length > 1) await this.#check();
      } catch (error) {
        if (!isRefusal(error)) leaveUrl(this.#url);
        throw error;
      }
    }
    async #check(): Promise<void> {
      try {
        const { rows } = await this.query<{ follows: boolean }>('SELECT pg_is_in_recovery() AS follows');
        if (rows[0]?.follows !== (role === 'standby')) throw wrongRole(role);
      } catch (error) {
        await this.end().catch(() => {});
        throw error;
      }
    }
    leave(): void {
      leaveUrl(this.#url);
    }
  }

  return {
    async connect(connect) {
      for (let left = urls.length; ; left -= 1) {
        const before = moves;
        try {
          return await connect();
        } catch (error) {
          if (left <= 1 || moves === before) throw error;
        }
      }
    },
    client: (options) => new ServerClient(options),
    Client: ServerClient,
    leave: (client) => client instanceof ServerClient && client.leave(),
  };
}

/** A connection outside the pool and without its timeouts, for backups, restores and inspections. */
export interface SingleConnection {
  readonly client: Client;
  readonly statements: Connection;
}

interface ConnectConfig {
  readonly url: string;
  readonly connectTimeoutMs?: number;
}

export async function connectAlone({ url, connectTimeoutMs = 5_000 }: ConnectConfig): Promise<SingleConnection> {
  const servers = createServers(url);
  const client = await servers.connect(async () => {
    const connecting = servers.client({ connectionTimeoutMillis: connectTimeoutMs });
    await connecting.connect();
    return connecting;
  });
  const query: Connection['query'] = async (text, values = []) =>
    (await client.query<Row>({ text, values: [...values] })).rows;
  return { client, statements: { query } };
}

/** Opens a connection for `work` and closes it afterwards. This also ends an open transaction. */
export async function withConnection<T>(
  config: ConnectConfig,
  work: (connection: SingleConnection) => Promise<T>,
): Promise<T> {
  try {
    const connection = await connectAlone(config);
    return await work(connection).finally(() => connection.client.end());
  } catch (error) {
    throw storageError(error);
  }
}

/** Returns true if the server is up but rejects us: no connection left, wrong password, or no such database. */
function isRefusal(error: unknown): boolean {
  return /^(?:53|28|3D)...$/.test(String((error as { code?: unknown }).code));
}

function wrongRole(role: ServerRole): Error {
  // Never shown to users, because the primary answers instead.
  if (role === 'standby') return new Error('not a replica');
  return new CarrelError(
    'unavailable',
    'None of the database servers accepts writes. Promote a standby, or start the primary.',
    { retryAfterSeconds: 1 },
  );
}

const allowedKinds: Readonly<Record<ServerRole, readonly string[]>> = {
  primary: ['any', 'read-write', 'primary'],
  standby: ['any', 'read-only', 'standby', 'prefer-standby'],
};

/** Settings that are file paths. They are made absolute, because the current folder may change before they are read. */
const fileSettings = ['sslcert', 'sslkey', 'sslrootcert'];

/** Returns one address per server. Never include them in messages: they contain a password. */
export function serverUrls(address: string, role: ServerRole = 'primary'): string[] {
  const [, start = '', login = '', hosts = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^?]*)\??(.*)$/is.exec(address) ?? [];
  if (start === '') return [address];
  const settings = new URLSearchParams(query);
  const kind = settings.get('target_session_attrs');
  if (kind !== null && !allowedKinds[role].includes(kind)) {
    const setting = role === 'primary' ? 'POSTGRESQL_CONNECTION_STRING (or DATABASE_URL)' : 'DATABASE_READ_URL';
    throw new CarrelError(
      'invalid_config',
      `target_session_attrs in ${setting} does not allow a ${role}. Remove it from the address.`,
    );
  }
  const hostList = hosts.includes(',') ? hosts.split(',') : hostsIn(settings);
  const files = fileSettings.filter((name) => settings.get(name));
  for (const name of files) settings.set(name, resolve(settings.get(name) ?? ''));
  if (hostList === undefined) return [files.length === 0 ? address : `${start}${login}${hosts}${path}?${settings}`];
  for (const name of ['host', 'port', 'target_session_attrs']) settings.delete(name);
  const rest = settings.size === 0 ? '' : `?${settings}`;
  return hostList.map((host) => `${start}${login}${host}${path}${rest}`);
}

/** Returns the hosts of the alternative form `?host=one,two&port=5432,5433`. A single port applies to all hosts. */
function hostsIn(settings: URLSearchParams): string[] | undefined {
  const hosts = settings.get('host')?.split(',');
  if (hosts === undefined || hosts.length === 1) return undefined;
  const ports = settings.get('port')?.split(',') ?? [];
  return hosts.map((host, index) => {
    const port = ports.length === 1 ? ports[0] : ports[index];
    return `${encodeURIComponent(host)}${port ? `:${port}` : ''}`;
  });
}
