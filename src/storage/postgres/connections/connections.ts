import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { CarrelError } from '../../../base/errors.ts';
import { createSlots } from '../../../base/slots.ts';
import type { Language } from '../../../words/language.ts';
import { cancelledRead, type ReadOptions, storageClosed } from '../../transactions.ts';
import { createServers, type Servers } from './servers.ts';
import { errorOfWrite, hasNoConnectionLeft, isLost, isReadOnly, isRetryable, storageError } from './storage-error.ts';
import {
  type AfterCommit,
  type Attempt,
  abortable,
  type Connection,
  createStatementNames,
  endedWithClient,
  statementsOf,
  transaction,
} from './transaction.ts';

export interface PostgresConfig {
  /** postgres://user:password@host:port/database. Several hosts are separated by commas, as in libpq. */
  readonly url: string;
  /** Address of a read replica, which answers searches. */
  readonly readUrl?: string | undefined;
  readonly connectionsMax?: number;
  readonly connectTimeoutMs?: number;
  /** Statement timeout of reads. The server enforces it. */
  readonly queryTimeoutMs?: number;
  /** Grace period after the statement timeout. After that, the connection counts as lost. */
  readonly silenceMs?: number;
  /** How long a write waits for a lock. The default is the same as on SQLite. */
  readonly lockTimeoutMs?: number;
  /** Language of the words. Default: the database's language. If it differs from that, all texts are tokenised again. */
  readonly language?: Language | undefined;
}

type Work<T> = (statements: Connection) => Promise<T>;

export interface Connections {
  /** Runs a read whose statements all see the same snapshot. */
  read<T>(work: Work<T>, options?: ReadOptions): Promise<T>;
  /**
   * Runs a write in one transaction. Retries it after a conflict, or if the connection was lost before COMMIT. `work` must
   * therefore have no side effects outside the database. `isLong` removes the statement timeout.
   */
  write<T>(work: Work<T>, options?: { readonly isLong?: boolean }): Promise<T>;
  /** Runs statements outside a transaction and without a timeout. Closing the connections cancels them. */
  outsideTransaction<T>(work: Work<T>): Promise<T>;
  count(): { readonly open: number; readonly idle: number; readonly max: number };
  close(): Promise<void>;
}

/** Max attempts after a conflict. */
const conflictsMax = 6;
/** Max attempts after a lost connection, or if the server has become read-only. */
const lossesMax = 3;
const idleTimeoutMs = 60_000;

/** The longest possible timer, 24 days. Used instead of no timeout. */
const endlessMs = 2 ** 31 - 1;

/** Finds a commit that has been waiting for a standby for more than a second. */
const waitingCommitQuery = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = current_user
  AND state_change < clock_timestamp() - interval '1 second' LIMIT 1`;

/** Max share of the connections that one caller may use. */
const callerShare = 0.7;
/** Max transactions that wait for a connection. Any more are rejected. */
const waitingMax = 10_000;

const overloaded = () =>
  new CarrelError('storage_busy', 'Too many calls are waiting for the database. Try again.', { retryAfterSeconds: 1 });

export interface ConnectionDeps {
  readonly servers?: Servers;
  readonly afterCommit?: AfterCommit | undefined;
  /** False if failed calls are not retried, because the caller tries another server instead. */
  readonly isRetrying?: boolean;
}

export function createConnections(
  config: PostgresConfig,
  { servers = createServers(config.url), afterCommit, isRetrying = true }: ConnectionDeps = {},
): Connections {
  const lockTimeoutMs = config.lockTimeoutMs ?? 15_000;
  const readMs = readTimeoutMs(config);
  // A statement may wait for a lock and then take as long as a read.
  const writeMs = lockTimeoutMs + readMs;
  const silenceMs = config.silenceMs ?? 10_000;
  const connectMs = config.connectTimeoutMs ?? 5_000;
  const max = config.connectionsMax ?? 10;
  const perCallerMax = Math.max(1, Math.floor(max * callerShare));
  const slots = createSlots({ runningMax: max, perCallerMax, waitingMax, waitMsMax: connectMs }, overloaded);
  const pool = new Pool({
    Client: servers.Client,
    max,
    connectionTimeoutMillis: connectMs,
    query_timeout: writeMs + silenceMs,
    allowExitOnIdle: true,
    // This option is missing in the driver's types.
    ...{ pipeline: true },
  });
  const names = createStatementNames();
  // Ignored, because a broken idle connection is replaced when the next call needs one.
  pool.on('error', () => {});
  /** Incremented when all existing connections are outdated. Outdated connections are closed, not used again. */
  let generation = 0;
  const generations = new WeakMap<object, number>();
  pool.on('connect', (client) => generations.set(client, generation));
  /** True if a commit got no answer, probably because it waits for a standby. */
  let hasUnansweredCommit = false;
  let isClosed = false;
  const cancelCallbacks = new Set<(error: Error) => void>();

  return {
    read,
    async write(work, { isLong = false } = {}) {
      if (hasUnansweredCommit) await checkUnansweredCommits();
      const statementMs = isLong ? 0 : writeMs;
      const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockTimeoutMs}`;
      const parts = { begin, work, statementMs, write: { afterCommit } };
      try {
        return await retry((attempt) => inTransaction(parts, attempt));
      } catch (error) {
        throw errorOfWrite(error);
      }
    },
    outsideTransaction: (work) => retry((attempt) => withoutTransaction(work, attempt)),
    count: () => ({ open: pool.totalCount, idle: pool.idleCount, max: pool.options.max }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const cancel of cancelCallbacks) cancel(storageClosed());
      await pool.end();
    },
  };

  function read<T>(work: Work<T>, options?: ReadOptions): Promise<T> {
    const parts = { begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work, statementMs: readMs };
    return retry((attempt) => inTransaction(parts, attempt, options));
  }

  /** Throws if commits are waiting for a standby. Each further commit would occupy a connection that searches need. */
  async function checkUnansweredCommits(): Promise<void> {
    const waiting = await read((statements) => statements.query(waitingCommitQuery));
    if (waiting.length > 0) {
      throw new CarrelError(
        'unavailable',
        'The standby server of the database does not confirm writes. Nothing was saved; try again later.',
        { retryAfterSeconds: 5 },
      );
    }
    hasUnansweredCommit = false;
  }

  async function retry<T>(attemptOnce: (attempt: Attempt) => Promise<T>): Promise<T> {
    const deadline = performance.now() + connectMs;
    for (let number = 1; ; number += 1) {
      if (isClosed) throw storageClosed();
      const attempt: Attempt = { mayBeCommitted: false, isUnanswered: false };
      try {
        return await attemptOnce(attempt);
      } catch (error) {
        if (!prepareRetry(error, attempt, number, deadline)) throw storageError(error);
        // The delay is random, so that the same two transactions don't collide again.
        await delay(Math.random() * 10 * 2 ** Math.min(number, conflictsMax));
      }
    }
  }

  function prepareRetry(error: unknown, attempt: Attempt, number: number, deadline: number): boolean {
    const hadNameFault = names.resetAfter(error);
    if (!isRetrying) return false;
    // Connections become free when other calls end.
    if (hasNoConnectionLeft(error)) return performance.now() < deadline;
    if (isRetryable(error) || hadNameFault) return number < conflictsMax;
    if (number >= lossesMax) return false;
    // Probably an idle connection died unnoticed. Other idle connections may be dead too.
    if (isLost(error)) return !attempt.mayBeCommitted;
    if (!isReadOnly(error)) return false;
    // The address may resolve to another server by now, or this server may have been promoted meanwhile.
    generation += 1;
    return true;
  }

  /** Waits until the current caller may use another connection, then returns one. */
  async function connect(signal?: AbortSignal): Promise<{ client: PoolClient; release(broken?: Error): void }> {
    const releaseSlot = await slots.acquire(signal);
    try {
      for (;;) {
        const client = await servers.connect(() => pool.connect());
        if (generations.get(client) === generation) {
          const release = (broken?: Error): void => {
            client.release(broken);
            releaseSlot();
          };
          return { client, release };
        }
        client.release(true);
      }
    } catch (error) {
      releaseSlot();
      throw error;
    }
  }

  async function inTransaction<T>(
    { statementMs, ...parts }: TransactionParts<T>,
    attempt: Attempt,
    { signal }: ReadOptions = {},
  ): Promise<T> {
    if (signal?.aborted) throw cancelledRead(signal);
    const { client, release } = await connect(signal);
    let broken: Error | undefined;
    const onBroken = (error: Error) => {
      broken ??= error;
    };
    client.on('error', onBroken);
    const begin = `${parts.begin}; ${localSettings(statementMs)}`;
    const statements = statementsOf(client, names, statementMs === 0 ? endlessMs : statementMs + silenceMs);
    try {
      return await abortable(transaction(client, { ...parts, begin, statements, onBroken, attempt }), signal);
    } catch (error) {
      if (signal?.aborted) onBroken(new Error('aborted'));
      if (isReadOnly(error)) servers.leave(client);
      hasUnansweredCommit ||= attempt.isUnanswered;
      throw error;
    } finally {
      client.off('error', onBroken);
      release(broken);
    }
  }

  async function withoutTransaction<T>(work: Work<T>, attempt: Attempt): Promise<T> {
    const { client, release } = await connect();
    attempt.mayBeCommitted = true;
    const { promise: cancelled, reject: cancel } = Promise.withResolvers<never>();
    cancelled.catch(() => {});
    client.on('error', cancel);
    cancelCallbacks.add(cancel);
    let broken: Error | undefined = new Error('cancelled');
    const unlimited = async (): Promise<T> => {
      await client.query('SET statement_timeout = 0');
      const result = await work(statementsOf(client, names, endlessMs));
      await client.query('RESET statement_timeout');
      return result;
    };
    try {
      const result = await Promise.race([unlimited(), cancelled]);
      broken = undefined;
      return result;
    } finally {
      cancelCallbacks.delete(cancel);
      client.off('error', cancel);
      release(broken);
    }
  }
}

interface TransactionParts<T> {
  readonly begin: string;
  readonly work: Work<T>;
  readonly statementMs: number;
  readonly write?: { readonly afterCommit: AfterCommit | undefined };
}

export function readTimeoutMs({ queryTimeoutMs = 5_000 }: PostgresConfig): number {
  return queryTimeoutMs;
}

/**
 * Returns the SQL for the settings of one transaction: where tables are, and the timeouts. A `statementMs` of 0 means no timeout.
 * Settings of a connection would not work: PgBouncer in transaction mode may run each transaction on another connection.
 */
export function localSettings(statementMs: number): string {
  const settings = {
    search_path: 'carrel',
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleTimeoutMs,
  };
  const statements = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  return [...statements, ...(statementMs === 0 ? [endedWithClient] : [])].join('; ');
}
