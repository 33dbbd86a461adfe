import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** A process that dies with a lease blocks the others for this long. */
const leaseMs = 30_000;
const waitMinMs = 50;
const waitMaxMs = 2_000;

const expiry = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${leaseMs}`;

/**
 * Runs work that only one process may do at a time. The lease is a row, not an advisory lock: a pooler in transaction mode keeps
 * no session that could hold a lock between statements.
 */
export async function withLease(
  connections: Pick<Connections, 'write'>,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const holder = Buffer.from(randomUUID());
  const change = (sql: string) => connections.write((statements) => statements.query(sql, [name, holder]));
  for (let waitMs = waitMinMs; (await change(take)).length === 0; waitMs = Math.min(waitMaxMs, waitMs * 1.5)) {
    await delay(waitMs * (0.5 + Math.random()));
  }
  // The next renewal makes up for a failed one. If the release fails, the lease expires.
  const renewal = setInterval(() => void change(renew).catch(() => {}), leaseMs / 3).unref();
  try {
    await work();
  } finally {
    clearInterval(renewal);
    await change(release).catch(() => {});
  }
}

const take = `INSERT INTO carrel.shared_parts AS p (kind, id, part, piece, content, expires_at)
  VALUES ('lease', $1, 0, 0, $2, ${expiry})
  ON CONFLICT (kind, id, part, piece) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at
  WHERE p.expires_at <= excluded.expires_at - ${leaseMs} RETURNING piece`;
const own = "kind = 'lease' AND id = $1 AND part = 0 AND piece = 0 AND content = $2";
const renew = `UPDATE carrel.shared_parts SET expires_at = ${expiry} WHERE ${own}`;
const release = `DELETE FROM carrel.shared_parts WHERE ${own}`;
