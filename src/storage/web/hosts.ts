import type { Statements } from '../dialect.ts';
import { numberOf, optionalTextOf } from '../rows.ts';
import { storable } from '../storable.ts';

export interface HostLease {
  /** The host's robots.txt. Undefined if it is outdated or was never stored. */
  readonly robots: string | undefined;
  /** Time until the next request may be sent to the host. */
  readonly waitMs: number;
}

/** Leases a host, or returns the process that has leased it (`leasedBy`). A lease of `deadOwner` is ignored. */
export async function leaseHost(
  db: Statements,
  { host, owner, leaseMs, deadOwner }: { host: string; owner: string; leaseMs: number; deadOwner?: string | undefined },
): Promise<HostLease | { leasedBy: string }> {
  const { nowMs, forUpdate } = db.dialect;
  await db.query('INSERT INTO web_hosts (host, next_at) VALUES (?, 0) ON CONFLICT DO NOTHING', [host]);
  const [row = {}] = await db.query(
    `SELECT lease_owner, robots, next_at - ${nowMs} AS wait, lease_until - ${nowMs} AS lease, robots_until - ${nowMs} AS fresh
      FROM web_hosts WHERE host = ? ${forUpdate}`,
    [host],
  );
  const holder = optionalTextOf(row, 'lease_owner');
  if (holder !== undefined && holder !== owner && holder !== deadOwner && numberOf(row, 'lease') > 0) {
    return { leasedBy: holder };
  }
  await db.query(`UPDATE web_hosts SET lease_owner = ?, lease_until = ${nowMs} + ? WHERE host = ?`, [
    owner,
    leaseMs,
    host,
  ]);
  const isFresh = row['fresh'] !== null && numberOf(row, 'fresh') > 0;
  return { robots: isFresh ? optionalTextOf(row, 'robots') : undefined, waitMs: Math.max(0, numberOf(row, 'wait')) };
}

/** Renews the lease and stores `waitMs` and `robots`, if set. Returns false if another process has leased the host. */
export async function renewHost(
  db: Statements,
  request: {
    host: string;
    owner: string;
    leaseMs: number;
    /** Time until the next request may be sent to the host. */
    waitMs?: number | undefined;
    robots?: { text: string; ttlMs: number } | undefined;
  },
): Promise<boolean> {
  const { nowMs } = db.dialect;
  const { host, owner, leaseMs, waitMs, robots } = request;
  const rows = await db.query(
    `UPDATE web_hosts SET lease_until = ${nowMs} + ?
      ${waitMs === undefined ? '' : `, next_at = ${nowMs} + ?`}
      ${robots === undefined ? '' : `, robots = ?, robots_until = ${nowMs} + ?`}
      WHERE host = ? AND lease_owner = ? RETURNING host`,
    [
      leaseMs,
      ...(waitMs === undefined ? [] : [waitMs]),
      ...(robots === undefined ? [] : [storable(robots.text), robots.ttlMs]),
      host,
      owner,
    ],
  );
  return rows.length > 0;
}

export async function releaseHost(
  db: Statements,
  { host, owner, waitMs }: { host: string; owner: string; waitMs: number },
): Promise<void> {
  const { nowMs } = db.dialect;
  await db.query(
    `UPDATE web_hosts SET lease_owner = NULL, lease_until = NULL, next_at = ${nowMs} + ?
      WHERE host = ? AND lease_owner = ?`,
    [waitMs, host, owner],
  );
}
