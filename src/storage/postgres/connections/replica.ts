import { setTimeout as delay } from 'node:timers/promises';
import { numberOf, type Row, textOf } from '../../rows.ts';
import type { ReplicaState, ReplicaWatch } from '../../storage.ts';
import type { ReadOptions } from '../../transactions.ts';
import {
  type Connections,
  createConnections,
  localSettings,
  type PostgresConfig,
  readTimeoutMs,
} from './connections.ts';
import { createServers } from './servers.ts';
import { isUnreachable } from './storage-error.ts';
import type { AfterCommit, Connection } from './transaction.ts';

/** A standby server that answers searches instead of the primary. */
export interface Replica extends ReplicaWatch {
  /**
   * Runs a read that sees every write acknowledged before the call, by any process. If the replica lags, fails or is down,
   * `onPrimary` answers. If the primary is down, the replica is tried again.
   */
  read<T>(work: (statements: Connection) => Promise<T>, onPrimary: () => Promise<T>, options?: ReadOptions): Promise<T>;
  /** Records the log positions of this process's writes. */
  readonly afterCommit: AfterCommit;
  close(): Promise<void>;
}

/** A position in the write-ahead log. Everything up to it is on the primary's disk, or visible on the replica. */
interface WalPosition {
  /** Number of bytes from the beginning of the log. */
  readonly at: bigint;
  /** Incremented by each promotion. A replica on an earlier timeline has diverged from the primary. */
  readonly timeline: number;
  /** The same on a primary and all its replicas. */
  readonly cluster: string;
}

/** Selects a position that includes all acknowledged commits: flushed or, with synchronous_commit off, inserted ones. */
const primaryPosition = `
  SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
      ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn AS at,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline,
    (SELECT system_identifier FROM pg_control_system()) AS cluster`;

const replicaPosition = `
  SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS at,
    (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r) AS timeline,
    (SELECT system_identifier FROM pg_control_system()) AS cluster`;

/** Pauses between checks of a replica that lags a little, in ms. */
const pausesMs = [1, 2, 4, 8, 16];

/** Pauses while the primary is down, in ms. The replica only has to replay the log that it has received, so waiting helps. */
const pausesWithoutPrimaryMs = [...pausesMs, 32, 64, 128, 256, 512, 1_024];

/** How long a replica is not used after it lagged too much or failed. Doubles with each failure, up to the maximum. */
const backoffMinMs = 250;
const backoffMaxMs = 10_000;

/** How long a primary that is down is not tried again. */
const downMs = 1_000;

export function createReplica(url: string, config: PostgresConfig, readPrimary: Connections['read']): Replica {
  const connections = createConnections(
    { ...config, url },
    { servers: createServers(url, 'standby'), isRetrying: false },
  );
  const counts = { replica: 0, primary: 0 };
  let backoffMs = 0;
  let unusedUntil = Number.NEGATIVE_INFINITY;
  let last: WalPosition | undefined;
  /** Number of this process's writes whose position is unknown, and the number of these that `last` includes. */
  let unknownWrites = 0;
  let includedWrites = 0;
  let downUntil = Number.NEGATIVE_INFINITY;

  return {
    async read(work, onPrimary, options) {
      const isUnused = performance.now() < unusedUntil;
      const answered = isUnused ? undefined : await tryRead(pausesMs, work, options);
      counts[answered === undefined ? 'primary' : 'replica'] += 1;
      if (answered !== undefined) return answered.answer;
      try {
        return await onPrimary();
      } catch (error) {
        const late = isUnreachable(error) ? await tryRead(pausesWithoutPrimaryMs, work, options) : undefined;
        if (late === undefined) throw error;
        return late.answer;
      }
    },
    afterCommit: {
      query: primaryPosition,
      onRow(row) {
        if (row === undefined) unknownWrites += 1;
        else last = laterPosition(last, positionOf(row));
      },
    },
    counts: () => ({ ...counts }),
    check,
    close: () => connections.close(),
  };

  /** Reads from the replica. Returns undefined if the replica can't answer. */
  async function tryRead<T>(
    pauses: readonly number[],
    work: (statements: Connection) => Promise<T>,
    options: ReadOptions | undefined,
  ): Promise<{ readonly answer: T } | undefined> {
    try {
      const target = await acknowledgedPosition();
      for (const pauseMs of target ? pauses : []) {
        const answered = target && (await readAt(target, work, options));
        if (answered !== undefined) {
          backoffMs = 0;
          return answered;
        }
        await delay(pauseMs);
      }
    } catch (error) {
      if (options?.signal?.aborted) throw error;
    }
    // Concurrent failures count as one.
    if (performance.now() >= unusedUntil) {
      backoffMs = Math.min(backoffMaxMs, Math.max(backoffMinMs, 2 * backoffMs));
      unusedUntil = performance.now() + backoffMs;
    }
    return undefined;
  }

  /**
   * Returns a position that includes every write acknowledged before the call, by any process. While the primary is down, it
   * includes only this process's own writes. Returns undefined if the position is unknown.
   */
  async function acknowledgedPosition(): Promise<WalPosition | undefined> {
    const ownWrites = () => (unknownWrites === includedWrites ? last : undefined);
    if (performance.now() < downUntil) return ownWrites();
    const before = unknownWrites;
    try {
      const [row = {}] = await readPrimary((statements) => statements.query(primaryPosition));
      const position = positionOf(row);
      last = laterPosition(last, position);
      includedWrites = before;
      return position;
    } catch (error) {
      // A primary that is up but doesn't answer may have accepted more writes than we know of.
      if (!isUnreachable(error instanceof Error && error.cause ? error.cause : error)) return undefined;
      downUntil = performance.now() + downMs;
      return ownWrites();
    }
  }

  /** Reads from the replica if it has reached the position. Returns undefined if it lags. */
  function readAt<T>(
    target: WalPosition,
    work: (statements: Connection) => Promise<T>,
    options: ReadOptions | undefined,
  ): Promise<{ readonly answer: T } | undefined> {
    return connections.read(async (statements) => {
      const [row = {}] = await statements.query(replicaPosition);
      const { behindBytes, trouble } = stateOf(row, target);
      if (trouble !== undefined) throw new Error(trouble);
      if (behindBytes !== 0) return undefined;
      // Starts a new snapshot, because the query's snapshot is older than the position it returned. CHAIN keeps the same server,
      // even behind a pooler.
      await statements.query(`COMMIT AND CHAIN; ${localSettings(readTimeoutMs(config))}`);
      return { answer: await work(statements) };
    }, options);
  }

  async function check(): Promise<ReplicaState> {
    const target = await acknowledgedPosition();
    if (target === undefined) return { trouble: 'The primary does not answer, so the lag of the replica is unknown.' };
    try {
      const [row = {}] = await connections.read((statements) => statements.query(replicaPosition));
      return stateOf(row, target);
    } catch {
      return { trouble: 'The replica does not answer.' };
    }
  }
}

function positionOf(row: Row): WalPosition {
  return { at: BigInt(textOf(row, 'at')), timeline: numberOf(row, 'timeline'), cluster: String(row['cluster']) };
}

function laterPosition(one: WalPosition | undefined, other: WalPosition): WalPosition {
  if (one === undefined || one.timeline < other.timeline) return other;
  return one.timeline > other.timeline || one.at > other.at ? one : other;
}

function stateOf(row: Row, target: WalPosition): ReplicaState {
  if (row['follows'] !== true) return { trouble: 'The server accepts writes: it is not a replica.' };
  if (row['at'] === null) return { trouble: 'The server does not report how far it has replicated.' };
  const { at, timeline, cluster } = positionOf(row);
  if (cluster !== target.cluster) return { trouble: 'The server follows another database.' };
  // After a promotion, it takes some time until the timeline is known. Until then, the replica might follow the abandoned
  // timeline.
  if (timeline !== target.timeline)
    return { trouble: 'It is not known yet whether the replica follows the promoted primary.' };
  return { behindBytes: at >= target.at ? 0 : Number(target.at - at) };
}
