import { resolve } from 'node:path';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import { CarrelError } from '../../../base/errors.ts';
import type { Row } from '../../rows.ts';
import { storageError } from './storage-error.ts';
import type { Connection } from './transaction.ts';

/** The servers of one address, one of which is in use. */
export interface Servers {
  /** Connects to the first available server; throws the last one's error if none is. */
  connect<Connected>(connect: () => Promise<Connected>): Promise<Connected>;
  /** A client, not connected yet. With several servers, connecting fails if the server is of the other kind. */
  client(options: ClientConfig): Client;
  /** Client class for a pool. */
  readonly Client: typeof Client;
  /** The client's server is no longer of the wanted kind: the next connection goes to another. */
  leave(client: ClientBase): void;
}

export type WantedServer = 'primary' | 'standby';

/**
 * Addresses may name several servers, as libpq's do: `postgres://user:password@one:5432,two:5432/database`. They are tried in
 * turn. The first of the wanted kind is used until it changes to the other kind or is down.
 */
export function createServers(address: string, wanted: WantedServer = 'primary'): Servers {
  const urls = serverUrls(address, wanted);
  // Spreads processes over the replicas.
  let current = wanted === 'primary' ? 0 : Math.floor(Math.random() * urls.length);
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
      const usual = { application_name: 'carrel', keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
      super({ ...usual, ...options, connectionString: url });
      this.#url = url;
      // Its next statement fails anyway; without a listener the process would exit.
      this.on('error', () => {});
    }
    override connect(): Promise<void>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<void> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      // Outside the promise chain: an exception of the callback is not a failure to connect.
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
        if (rows[0]?.follows !== (wanted === 'standby')) throw noneOf(wanted);
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

/** A connection outside the pool, without its timeouts, for backups and restores. */
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
    const own = servers.client({ connectionTimeoutMillis: connectTimeoutMs });
    await own.connect();
    return own;
  });
  const query: Connection['query'] = async (text, values = []) =>
    (await client.query<Row>({ text, values: [...values] })).rows;
  return { client, statements: { query } };
}

/** An open transaction ends with the connection. */
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

/** The server is up but refuses us: no connection left, wrong password, no such database. */
function isRefusal(error: unknown): boolean {
  return /^(?:53|28|3D)...$/.test(String((error as { code?: unknown }).code));
}

function noneOf(wanted: WantedServer): Error {
  // Never shown: the primary answers.
  if (wanted === 'standby') return new Error('not a replica');
  return new CarrelError(
    'unavailable',
    'None of the database servers accepts writes at the moment. Promote a standby, or start the primary.',
    { retryAfterSeconds: 1 },
  );
}

const kindsOf: Readonly<Record<WantedServer, readonly string[]>> = {
  primary: ['any', 'read-write', 'primary'],
  standby: ['any', 'read-only', 'standby', 'prefer-standby'],
};

/** File paths, made absolute now: they are read per connection, when the current folder may have changed. */
const files = ['sslcert', 'sslkey', 'sslrootcert'];

/** One address per server. Never quote them in messages: they contain a password. */
export function serverUrls(address: string, wanted: WantedServer = 'primary'): string[] {
  const [, start = '', login = '', place = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(address) ?? [];
  if (start === '') return [address];
  const query = rest.indexOf('?');
  const path = query === -1 ? rest : rest.slice(0, query);
  const settings = new URLSearchParams(query === -1 ? '' : rest.slice(query + 1));
  const kind = settings.get('target_session_attrs');
  if (kind !== null && !kindsOf[wanted].includes(kind)) {
    throw new CarrelError(
      'invalid_config',
      `target_session_attrs in the address of the ${wanted} excludes the ${wanted}. Remove it from the address.`,
    );
  }
  const places = place.includes(',') ? place.split(',') : hostsIn(settings);
  const named = files.filter((name) => settings.get(name));
  for (const name of named) settings.set(name, resolve(settings.get(name) ?? ''));
  if (places === undefined) return [named.length === 0 ? address : `${start}${login}${place}${path}?${settings}`];
  for (const name of ['host', 'port', 'target_session_attrs']) settings.delete(name);
  const others = settings.size === 0 ? '' : `?${settings}`;
  return places.map((each) => `${start}${login}${each}${path}${others}`);
}

/** The alternative form: `?host=one,two&port=5432,5433`, or one port for all. */
function hostsIn(settings: URLSearchParams): string[] | undefined {
  const hosts = settings.get('host')?.split(',');
  if (hosts === undefined || hosts.length === 1) return undefined;
  const ports = settings.get('port')?.split(',') ?? [];
  return hosts.map((host, index) => {
    const port = ports.length === 1 ? ports[0] : ports[index];
    return `${encodeURIComponent(host)}${port ? `:${port}` : ''}`;
  });
}
