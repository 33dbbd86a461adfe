import { Pool } from 'pg';
import { numberOf, type Row, textOf } from '../rows.ts';
import type { PostgresConfig } from './connections.ts';
import { connectToAny, type Servers } from './servers.ts';
import { isAway } from './storage-error.ts';
import type { AfterCommit } from './transaction.ts';

/** How far a server is: everything up to here is on its disk, or can be seen there if it follows another. */
export interface WalPosition {
  /** In bytes from the beginning. */
  readonly at: bigint;
  /** Counts the promotions. A replica that stays on an earlier one goes another way from there. */
  readonly timeline: number;
  /** The same on a server and all that follow it. */
  readonly cluster: string;
}

export interface PrimaryPosition {
  /**
   * Not before any write that was acknowledged to anybody when it is called. While the primary does not answer: not before
   * those of this process, and what it was told before; undefined if it does not know where one of its writes is.
   */
  now(): Promise<WalPosition | undefined>;
  /** Of every write of this process. */
  readonly afterCommit: AfterCommit;
  close(): Promise<void>;
}

/** A commit is acknowledged when it is on disk, unless the server was told not to wait for that. */
const query = `
  SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
      ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn AS at,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline,
    (SELECT system_identifier FROM pg_control_system()) AS cluster`;

export function positionOf(row: Row): WalPosition {
  return { at: BigInt(textOf(row, 'at')), timeline: numberOf(row, 'timeline'), cluster: String(row['cluster']) };
}

function later(one: WalPosition | undefined, other: WalPosition): WalPosition {
  if (one === undefined || one.timeline < other.timeline) return other;
  return one.timeline > other.timeline || one.at > other.at ? one : other;
}

/** Searches wait for it: it is asked on a connection of its own, and a primary that says nothing is away soon. */
const answerMs = 1_000;

/** One that is away is not asked again before this. */
const awayMs = 1_000;

export function createPrimaryPosition(config: PostgresConfig, servers: Servers): PrimaryPosition {
  const pool = new Pool({
    Client: servers.Client,
    max: 1,
    connectionTimeoutMillis: Math.min(2 * answerMs, config.connectTimeoutMs ?? 5_000),
    query_timeout: answerMs,
    keepAlive: true,
    application_name: 'carrel position',
    allowExitOnIdle: true,
  });
  pool.on('error', () => {});
  let last: WalPosition | undefined;
  let isAwayUntil = Number.NEGATIVE_INFINITY;
  /** Writes of which nobody told where they are, and how many of them are behind what was told since. */
  let untold = 0;
  let covered = 0;
  let running: Promise<WalPosition | undefined> | undefined;
  let next: Promise<WalPosition | undefined> | undefined;

  async function ask(): Promise<WalPosition | undefined> {
    if (performance.now() < isAwayUntil) return knownAlready();
    const before = untold;
    try {
      const found = await askPrimary();
      last = later(last, found);
      covered = before;
      return found;
    } catch (error) {
      // One that is there and does not tell may have done more since.
      if (!isAway(error)) return undefined;
      isAwayUntil = performance.now() + awayMs;
      return knownAlready();
    }
  }

  function knownAlready(): WalPosition | undefined {
    return untold === covered ? last : undefined;
  }

  async function askPrimary(): Promise<WalPosition> {
    const client = await connectToAny(servers, () => pool.connect());
    let broken: Error | undefined;
    try {
      const { rows } = await client.query<Row>(query);
      return positionOf(rows[0] ?? {});
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Whoever comes while a question is under way shares the next one: the answer to this one may be from before. */
  function now(): Promise<WalPosition | undefined> {
    if (running === undefined) {
      running = ask().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return now();
    });
    return next;
  }

  return {
    now,
    afterCommit: {
      query,
      tell(row) {
        if (row === undefined) untold += 1;
        else last = later(last, positionOf(row));
      },
    },
    close: () => pool.end(),
  };
}
