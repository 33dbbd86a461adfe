import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { CarrelError } from '../../base/errors.ts';
import type { Language } from '../../words/language.ts';
import { givenUp, type ReadOptions } from '../contracts/read-options.ts';
import { connectToAny, createServers, type Servers } from './servers.ts';
import { createStatementNames, type StatementNames } from './statement-names.ts';
import { createSteadyReads } from './steady-reads.ts';
import { errorOfWrite, isCrowded, isLost, isReadOnly, isRetryable, storageError } from './storage-error.ts';
import {
  type AfterCommit,
  type Attempt,
  abortable,
  type Connection,
  endedWithClient,
  type ReadCondition,
  type Run,
  readsOf,
  statementsOf,
  transaction,
  unaccepted,
} from './transaction.ts';

export interface PostgresConfig {
  /** postgres://user:password@host:port/database, or with several hosts, as libpq takes them. */
  readonly url: string;
  /** Of a server that follows that one, for searches. */
  readonly readUrl?: string | undefined;
  readonly connectionsMax?: number;
  readonly connectTimeoutMs?: number;
  /** The server stops a statement that takes longer. */
  readonly queryTimeoutMs?: number;
  /** One that says nothing for so long beyond that is not there any more. */
  readonly silenceMs?: number;
  /** How long a write waits for others that change the same rows; the same as on SQLite. */
  readonly lockTimeoutMs?: number;
  /** Passages of a label from which on its codes are a table of their own. */
  readonly wideLabelMin?: number | undefined;
  /** Of the words. Default: the database's language; with another one, all texts are tokenised again. */
  readonly language?: Language | undefined;
}

export interface Connections {
  /** All statements see the same state. */
  read<T>(work: (statements: Connection) => Promise<T>, options?: ReadOptions): Promise<T>;
  /**
   * Reads once, and as it is begun: with a SELECT, whose row decides whether the rest is done. Undefined if it does not. Errors
   * are PostgreSQL's own.
   */
  readIf<T>(
    condition: ReadCondition,
    work: (statements: Connection) => Promise<T>,
    options?: ReadOptions,
  ): Promise<{ readonly answer: T } | undefined>;
  /**
   * All of it or nothing. Done again when another transaction was in the way, or when the connection was lost before the end,
   * so it must do nothing besides. `isLong`: its statements take as long as they take.
   */
  write<T>(work: (statements: Connection) => Promise<T>, options?: { readonly isLong?: boolean }): Promise<T>;
  /**
   * Statements that cannot be in a transaction and take as long as they take, such as making an index while others write.
   * Done again like those of `write`; given up when the connections are closed.
   */
  alone<T>(work: (statements: Connection) => Promise<T>): Promise<T>;
  count(): { readonly open: number; readonly idle: number; readonly max: number };
  close(): Promise<void>;
}

const attemptsMax = 6;
const lossesMax = 3;
const queryTimeoutMs = 5_000;
const idleTimeoutMs = 60_000;

/** A timer's longest time: 24 days. */
const endlessMs = 2 ** 31 - 1;

/** A connection that says "read-only" and is older than this is from before something changed, perhaps. */
const freshMs = 1_000;

/** Commits that wait longer than they should. */
const heldQuery = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = current_user
  AND state_change < clock_timestamp() - interval '1 second' LIMIT 1`;

function standbyAway(): CarrelError {
  return new CarrelError(
    'unavailable',
    'The standby of the database does not confirm writes at present. Nothing was saved; try again later.',
    { retryAfterSeconds: 5 },
  );
}

function newAttempt(): Attempt {
  return { isCommitted: false, isOld: false, isHeld: false };
}

export function createConnections(
  config: PostgresConfig,
  servers: Servers = createServers(config.url),
  afterCommit?: AfterCommit,
): Connections {
  const lockTimeoutMs = config.lockTimeoutMs ?? 15_000;
  const readMs = config.queryTimeoutMs ?? queryTimeoutMs;
  // A statement that waits for a lock takes no longer than that, and what it does itself has its usual time besides.
  const writeMs = lockTimeoutMs + readMs;
  const silenceMs = config.silenceMs ?? 10_000;
  const connectMs = config.connectTimeoutMs ?? 5_000;
  const pool = new Pool({
    Client: servers.Client,
    max: config.connectionsMax ?? 10,
    connectionTimeoutMillis: connectMs,
    query_timeout: writeMs + silenceMs,
    // A peer that is gone without a word is noticed.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'carrel',
    allowExitOnIdle: true,
    // A statement is sent without waiting for the answer to the one before.
    ...{ pipeline: true },
  });
  const names = createStatementNames();
  const steady = createSteadyReads();
  // An idle connection that breaks is replaced when the next call needs one; that call tells if it cannot be.
  pool.on('error', () => {});
  const opened = new WeakMap<object, { readonly at: number; readonly generation: number }>();
  let generation = 0;
  pool.on('connect', (client) => opened.set(client, { at: performance.now(), generation }));
  const beginRead = ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...boundsOf(readMs)];
  const beginWrite = ['BEGIN ISOLATION LEVEL READ COMMITTED', `SET LOCAL lock_timeout = ${lockTimeoutMs}`];
  let isHeld = false;
  let closed = false;
  const endAlone = new Set<(error: Error) => void>();

  return {
    read,
    async readIf({ begin, accept }, work, options) {
      const run = { begin: [...begin, ...boundsOf(readMs)], accept, statementMs: readMs, signal: options?.signal };
      try {
        return { answer: await inTransaction(run, work, newAttempt()) };
      } catch (error) {
        if (error === unaccepted) return undefined;
        names.isBlamed(error);
        throw error;
      }
    },
    async write(work, { isLong = false } = {}) {
      if (isHeld) await checkHeld();
      const statementMs = isLong ? 0 : writeMs;
      const begin = [...beginWrite, ...boundsOf(statementMs)];
      const run = { begin, statementMs, write: { afterCommit } };
      try {
        return await again((attempt) => inTransaction(run, work, attempt));
      } catch (error) {
        throw errorOfWrite(error);
      }
    },
    alone: (work) => again((attempt) => withoutTransaction(work, attempt)),
    count: () => ({ open: pool.totalCount, idle: pool.idleCount, max: pool.options.max }),
    async close() {
      if (closed) return;
      closed = true;
      for (const end of endAlone) end(new CarrelError('unavailable', 'The storage is closed.'));
      await pool.end();
    },
  };

  function read<T>(work: (statements: Connection) => Promise<T>, options?: ReadOptions): Promise<T> {
    const run = { begin: beginRead, statementMs: readMs, signal: options?.signal };
    return again((attempt) => inTransaction(run, work, attempt));
  }

  /** While commits wait for a standby, each more would cost the server a connection for as long; searches need them. */
  async function checkHeld(): Promise<void> {
    const waiting = await read((statements) => statements.query(heldQuery));
    if (waiting.length > 0) throw standbyAway();
    isHeld = false;
  }

  async function again<T>(attemptOnce: (attempt: Attempt) => Promise<T>): Promise<T> {
    const deadline = performance.now() + connectMs;
    for (let number = 1; ; number += 1) {
      if (closed) throw new CarrelError('unavailable', 'The storage is closed.');
      const attempt = newAttempt();
      try {
        return await attemptOnce(attempt);
      } catch (error) {
        if (!isWorthAnother(error, attempt, number, deadline)) throw storageError(error);
        // Apart by chance, so that the same two do not meet again.
        await delay(Math.random() * 10 * 2 ** Math.min(number, attemptsMax));
      }
    }
  }

  function isWorthAnother(error: unknown, attempt: Attempt, number: number, deadline: number): boolean {
    // Others of this process or another give theirs back.
    if (isCrowded(error)) return performance.now() < deadline;
    if (number >= attemptsMax) return false;
    if (isRetryable(error) || names.isBlamed(error)) return true;
    // Most likely it was an old connection of which nobody had noticed that it is dead; others may be dead, too.
    if (isLost(error)) return !attempt.isCommitted && number < lossesMax;
    // The address may lead to another server by now, or the server may have been told something else.
    if (isReadOnly(error) && attempt.isOld) {
      generation += 1;
      return true;
    }
    return false;
  }

  async function connect(attempt: Attempt): Promise<PoolClient> {
    for (;;) {
      const client = await connectToAny(servers, () => pool.connect());
      const { at, generation: own } = opened.get(client) ?? { at: 0, generation };
      attempt.isOld = performance.now() - at > freshMs;
      if (own === generation) return client;
      client.release(true);
    }
  }

  async function inTransaction<T>(
    { statementMs, signal, ...run }: Run,
    work: (statements: Connection) => Promise<T>,
    attempt: Attempt,
  ): Promise<T> {
    if (signal?.aborted) throw givenUp(signal);
    const client = await connect(attempt);
    let broken: Error | undefined;
    const lose = (error: Error) => {
      broken ??= error;
    };
    client.on('error', lose);
    const answerMs = statementMs === 0 ? endlessMs : statementMs + silenceMs;
    const statements = (run.write === undefined ? readsOf : statementsOf)(client, names, answerMs);
    try {
      return await abortable(transaction(client, { ...run, statements, steady, work, lose, attempt }), signal);
    } catch (error) {
      if (signal?.aborted) lose(new Error('given up'));
      if (isReadOnly(error)) servers.leave(client);
      isHeld ||= attempt.isHeld;
      throw error;
    } finally {
      client.off('error', lose);
      // A connection in an unknown state is not used again.
      client.release(broken);
    }
  }

  async function withoutTransaction<T>(work: (statements: Connection) => Promise<T>, attempt: Attempt): Promise<T> {
    const client = await connect(attempt);
    attempt.isCommitted = true;
    const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
    given.catch(() => {});
    client.on('error', giveUp);
    endAlone.add(giveUp);
    let broken: Error | undefined = new Error('given up');
    try {
      const result = await Promise.race([unbounded(client, names, work), given]);
      broken = undefined;
      return result;
    } finally {
      endAlone.delete(giveUp);
      client.off('error', giveUp);
      client.release(broken);
    }
  }
}

/**
 * For one transaction: behind a pooler (PgBouncer in transaction mode) the next one is on another connection, and what a
 * connection would be set to as it opens is refused.
 */
function boundsOf(statementMs: number): string[] {
  return [
    `SET LOCAL statement_timeout = ${statementMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
    ...(statementMs === 0 ? [endedWithClient] : []),
  ];
}

async function unbounded<T>(
  client: PoolClient,
  names: StatementNames,
  work: (statements: Connection) => Promise<T>,
): Promise<T> {
  await client.query('SET statement_timeout = 0');
  const result = await work(statementsOf(client, names, endlessMs));
  await client.query('RESET statement_timeout');
  return result;
}
