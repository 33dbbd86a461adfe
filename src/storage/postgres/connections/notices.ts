import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Notice } from '../../../base/shared-store.ts';
import type { Connections, PostgresConfig } from './connections.ts';
import type { Servers } from './servers.ts';

export interface Notices {
  notify(notice: Notice): void;
  listen(listener: (notice: Notice) => void): () => void;
  close(): Promise<void>;
}

const channel = 'carrel';
/** Equal notices without an id are sent only once within this time. */
const quietMs = 200;
const retryMinMs = 1_000;
const retryMaxMs = 5_000;

/**
 * Sends notices between the processes that use a database, with NOTIFY and LISTEN. The listening connection is opened for the
 * first listener. Notices are lost behind PgBouncer in transaction mode and while the server is down, so listeners also poll.
 */
export function createNotices(
  config: PostgresConfig,
  connections: Pick<Connections, 'write'>,
  servers: Servers,
): Notices {
  const self = randomUUID();
  const listeners = new Set<(notice: Notice) => void>();
  const timers = new Map<string, NodeJS.Timeout>();
  let client: Client | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let retryMs = retryMinMs;
  let closed = false;

  const send = (notice: Notice): void => {
    if (closed) return;
    const payload = JSON.stringify({ ...notice, from: self });
    connections
      .write((statements) => statements.query('SELECT pg_notify($1, $2)', [channel, payload]))
      // Ignored, because listeners also poll.
      .catch(() => {});
  };

  const connect = async (): Promise<void> => {
    if (closed) return;
    const connecting = servers.client({
      connectionTimeoutMillis: config.connectTimeoutMs ?? 5_000,
      application_name: 'carrel notices',
    });
    client = connecting;
    let isLost = false;
    const reconnectLater = (): void => {
      if (isLost) return;
      isLost = true;
      connecting.end().catch(() => {});
      if (closed) return;
      retryTimer = setTimeout(() => void connect(), retryMs).unref();
      retryMs = Math.min(retryMaxMs, retryMs * 2);
    };
    connecting.on('error', reconnectLater);
    connecting.on('end', reconnectLater);
    connecting.on('notification', ({ payload = '' }) => {
      const { from, ...notice } = JSON.parse(payload) as Notice & { from: string };
      if (from !== self) for (const listener of listeners) listener(notice);
    });
    try {
      await connecting.connect();
      await connecting.query(`LISTEN ${channel}`);
      retryMs = retryMinMs;
    } catch {
      reconnectLater();
    }
  };

  return {
    notify(notice) {
      const key = JSON.stringify(notice);
      if (timers.has(key)) return;
      timers.set(
        key,
        setTimeout(
          () => {
            timers.delete(key);
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
      clearTimeout(retryTimer);
      for (const each of timers.values()) clearTimeout(each);
      await client?.end().catch(() => {});
    },
  };
}
