import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError } from '../../base/errors.ts';
import type { ReadOptions } from '../contracts/read-options.ts';
import type { ReplicaState, ReplicaWatch } from '../contracts/storage.ts';
import type { Row } from '../rows.ts';
import { createConnections, type PostgresConfig } from './connections.ts';
import { createServers, type Servers } from './servers.ts';
import type { AfterCommit, Connection } from './transaction.ts';
import { createPrimaryPosition, positionOf, type WalPosition } from './wal-position.ts';

/** A server that follows the primary and answers searches in its place. */
export interface Replica extends ReplicaWatch {
  /**
   * Everything that was acknowledged to anybody, in whatever process, before the call can be seen by it. Undefined if the
   * replica is not so far, away or in trouble: the primary has to answer.
   */
  read<T>(
    work: (statements: Connection) => Promise<T>,
    options?: ReadOptions,
  ): Promise<{ readonly answer: T } | undefined>;
  /** What it has to know of the writes of this process. */
  readonly afterCommit: AfterCommit;
  close(): Promise<void>;
}

/**
 * Where it is, and then a new transaction on the same server, also behind a pooler: what a statement sees is settled before
 * it could tell where the server is.
 */
const begin = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  `SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS at,
    (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r) AS timeline,
    (SELECT system_identifier FROM pg_control_system()) AS cluster`,
  'COMMIT AND CHAIN',
];

/** A replica that is a moment behind is waited for, so long in all. */
const waitsMs = [1, 2, 4, 8, 16];

/** One that is further behind, or in trouble, is left alone: longer each time. */
const restMinMs = 250;
const restMaxMs = 10_000;

export function createReplica(url: string, config: PostgresConfig, primary: Servers): Replica {
  const connections = createConnections({ ...config, url }, createServers(url, 'standby'));
  const position = createPrimaryPosition(config, primary);
  const counts = { replica: 0, primary: 0 };
  let restMs = 0;
  let restUntil = Number.NEGATIVE_INFINITY;

  return {
    async read(work, options) {
      const answered = performance.now() < restUntil ? undefined : await tryRead(work, options);
      counts[answered === undefined ? 'primary' : 'replica'] += 1;
      return answered;
    },
    afterCommit: position.afterCommit,
    counts: () => ({ ...counts }),
    look,
    async close() {
      await Promise.all([connections.close(), position.close()]);
    },
  };

  async function tryRead<T>(work: (statements: Connection) => Promise<T>, options: ReadOptions | undefined) {
    try {
      const wanted = await position.now();
      const answered = wanted && (await readAt(wanted, work, options));
      if (answered === undefined) rest();
      else restMs = 0;
      return answered;
    } catch (error) {
      // By the caller, or because of what it asks for: the same would happen elsewhere.
      if (isCarrelError(error)) throw error;
      rest();
      return undefined;
    }
  }

  function rest(): void {
    // Others found the same at the same time.
    if (performance.now() < restUntil) return;
    restMs = Math.min(restMaxMs, Math.max(restMinMs, 2 * restMs));
    restUntil = performance.now() + restMs;
  }

  async function readAt<T>(
    wanted: WalPosition,
    work: (statements: Connection) => Promise<T>,
    options: ReadOptions | undefined,
  ): Promise<{ readonly answer: T } | undefined> {
    const accept = (row: Row): boolean => {
      const { behindBytes, trouble } = stateOf(row, wanted);
      if (trouble !== undefined) throw new Error(trouble);
      return behindBytes === 0;
    };
    for (const waitMs of waitsMs) {
      const answered = await connections.readIf({ begin, accept }, work, options);
      if (answered !== undefined) return answered;
      await delay(waitMs);
    }
    return undefined;
  }

  async function look(): Promise<ReplicaState> {
    const wanted = await position.now();
    if (wanted === undefined)
      return { trouble: 'The primary does not answer, so nobody knows how far the replica is.' };
    let state: ReplicaState = { trouble: 'The replica does not answer.' };
    const accept = (row: Row): boolean => {
      state = stateOf(row, wanted);
      return false;
    };
    await connections.readIf({ begin, accept }, async () => {}).catch(() => {});
    return state;
  }
}

function stateOf(row: Row, wanted: WalPosition): ReplicaState {
  if (row['follows'] !== true) return { trouble: 'The server takes writes itself: it is not a replica.' };
  if (row['at'] === null) return { trouble: 'The server does not tell how far it is.' };
  const { at, timeline, cluster } = positionOf(row);
  if (cluster !== wanted.cluster) return { trouble: 'The server follows another database.' };
  // Known only some time after a promotion. Until then it might as well be on the way that was given up.
  if (timeline !== wanted.timeline) return { trouble: 'The replica is not known to follow the promoted primary yet.' };
  return { behindBytes: at >= wanted.at ? 0 : Number(wanted.at - at) };
}
