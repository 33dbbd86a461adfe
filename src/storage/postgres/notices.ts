import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Notice } from '../../base/shared-store.ts';
import type { Connections, PostgresConfig } from './connections.ts';
import type { Servers } from './servers.ts';

export interface Notices {
  tell(notice: Notice): void;
  listen(listener: (notice: Notice) => void): () => void;
  close(): Promise<void>;
}

const channel = 'carrel';
/** Of one kind of notice without an id: many become one. */
const quietMs = 200;
const retryMinMs = 1_000;
const retryMaxMs = 5_000;

/**
 * Tells the other processes on a database of changes, over a connection of its own that is opened with the first listener.
 * Where that gets nothing (behind PgBouncer in transaction mode, or while the server is away), nobody is told, and whoever
 * listens finds out by looking.
 */
export function createNotices(
  config: PostgresConfig,
  connections: Pick<Connections, 'write'>,
  servers: Servers,
): Notices {
  const self = randomUUID();
  const listeners = new Set<(notice: Notice) => void>();
  const waiting = new Map<string, NodeJS.Timeout>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = retryMinMs;
  let closed = false;

  const send = (notice: Notice): void => {
    if (closed) return;
    const payload = JSON.stringify({ ...notice, from: self });
    connections
      .write((statements) => statements.query('SELECT pg_notify($1, $2)', [channel, payload]))
      // They will see it when they look.
      .catch(() => {});
  };

  const connect = async (): Promise<void> => {
    if (closed) return;
    const own = servers.client({
      connectionTimeoutMillis: config.connectTimeoutMs ?? 5000,
      application_name: 'carrel notices',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client = own;
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      own.end().catch(() => {});
      if (closed) return;
      timer = setTimeout(() => void connect(), retryMs).unref();
      retryMs = Math.min(retryMaxMs, retryMs * 2);
    };
    own.on('error', lose);
    own.on('end', lose);
    own.on('notification', ({ payload = '' }) => {
      const { from, ...notice } = JSON.parse(payload) as Notice & { from: string };
      if (from !== self) for (const listener of listeners) listener(notice);
    });
    try {
      await own.connect();
      await own.query(`LISTEN ${channel}`);
      retryMs = retryMinMs;
    } catch {
      lose();
    }
  };

  return {
    tell(notice) {
      const key = JSON.stringify(notice);
      if (waiting.has(key)) return;
      waiting.set(
        key,
        setTimeout(
          () => {
            waiting.delete(key);
            send(notice);
          },
          'id' in notice ? 0 : quietMs,
        ).unref(),
      );
    },
    listen(listener) {
      listeners.add(listener);
      if (client === undefined) void connect();
      return () => listeners.delete(listener);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const each of waiting.values()) clearTimeout(each);
      await client?.end().catch(() => {});
    },
  };
}
