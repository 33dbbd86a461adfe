import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { CarrelError } from '../../base/errors.ts';
import type { Language } from '../../words/language.ts';
import { givenUp, type ReadOptions } from '../contracts/read-options.ts';
import type { Row } from '../rows.ts';
import { createStatementNames, type StatementNames } from './statement-names.ts';
import { isRetryable, storageError } from './storage-error.ts';

export interface PostgresConfig {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly connectionsMax?: number;
  readonly connectTimeoutMs?: number;
  /** The server stops a statement that takes longer. */
  readonly queryTimeoutMs?: number;
  /** How long a write waits for others that change the same rows; the same as on SQLite. */
  readonly lockTimeoutMs?: number;
  /** Of the words. Default: the database's language; with another one, all texts are tokenised again. */
  readonly language?: Language | undefined;
}

/** Statements of one transaction. Texts are constant and values are bound: none is ever put into the text. */
export interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Connections {
  /** All statements see the same state. */
  read<T>(work: (statements: Connection) => Promise<T>, options?: ReadOptions): Promise<T>;
  /** All of it or nothing. Done again when another transaction was in the way, so it must do nothing besides. */
  write<T>(work: (statements: Connection) => Promise<T>): Promise<T>;
  /**
   * Statements that cannot be in a transaction and take as long as they take, such as making an index while others write.
   * Done again like those of `write`; given up when the connections are closed.
   */
  alone<T>(work: (statements: Connection) => Promise<T>): Promise<T>;
  count(): { readonly open: number; readonly idle: number; readonly max: number };
  close(): Promise<void>;
}

const attemptsMax = 6;
const queryTimeoutMs = 5_000;
const idleTimeoutMs = 60_000;

/** How long a transaction may take to begin. A pooler accepts everybody, and has them wait while its server is busy or away. */
const beginTimeoutMs = 10_000;

export function createConnections(config: PostgresConfig): Connections {
  const pool = new Pool({
    connectionString: config.url,
    max: config.connectionsMax ?? 10,
    connectionTimeoutMillis: config.connectTimeoutMs ?? 5000,
    // A peer that is gone without a word is noticed.
    keepAlive: true,
    application_name: 'carrel',
    allowExitOnIdle: true,
    // A statement is sent without waiting for the answer to the one before.
    ...{ pipeline: true },
  });
  const names = createStatementNames();
  // An idle connection that breaks is replaced when the next call needs one; that call tells if it cannot be.
  pool.on('error', () => {});
  const lockTimeoutMs = config.lockTimeoutMs ?? 15_000;
  const ownTimeoutMs = config.queryTimeoutMs ?? queryTimeoutMs;
  const beginRead = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${boundsOf(ownTimeoutMs)}`;
  // A statement that waits for a lock takes no longer than that, and what it does itself has its usual time besides.
  const beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockTimeoutMs}; ${boundsOf(lockTimeoutMs + ownTimeoutMs)}`;
  let closed = false;
  const endAlone = new Set<(error: Error) => void>();

  return {
    read: (work, options) => again(() => inTransaction(beginRead, work, options?.signal)),
    write: (work) => again(() => inTransaction(beginWrite, work, undefined)),
    alone: (work) => again(() => withoutTransaction(work)),
    count: () => ({ open: pool.totalCount, idle: pool.idleCount, max: pool.options.max }),
    async close() {
      if (closed) return;
      closed = true;
      for (const end of endAlone) end(new CarrelError('unavailable', 'The storage is closed.'));
      await pool.end();
    },
  };

  async function again<T>(attemptOnce: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (closed) throw new CarrelError('unavailable', 'The storage is closed.');
      try {
        return await attemptOnce();
      } catch (error) {
        if (!(isRetryable(error) || names.isBlamed(error)) || attempt >= attemptsMax) throw storageError(error);
        // Apart by chance, so that the same two do not meet again.
        await delay(Math.random() * 10 * 2 ** attempt);
      }
    }
  }

  async function inTransaction<T>(
    begin: string,
    work: (statements: Connection) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (signal?.aborted) throw givenUp(signal);
    const client = await pool.connect();
    let broken: Error | undefined;
    const lose = (error: Error) => {
      broken ??= error;
    };
    client.on('error', lose);
    try {
      return await abortable(transaction(client, names, begin, work, lose), signal);
    } catch (error) {
      if (signal?.aborted) lose(new Error('given up'));
      throw error;
    } finally {
      client.off('error', lose);
      // A connection in an unknown state is not used again.
      client.release(broken);
    }
  }

  async function withoutTransaction<T>(work: (statements: Connection) => Promise<T>): Promise<T> {
    const client = await pool.connect();
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
function boundsOf(statementMs: number): string {
  return `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
}

async function unbounded<T>(
  client: PoolClient,
  names: StatementNames,
  work: (statements: Connection) => Promise<T>,
): Promise<T> {
  await client.query('SET statement_timeout = 0');
  const result = await work(statementsOf(client, names));
  await client.query('RESET statement_timeout');
  return result;
}

function statementsOf(client: PoolClient, names: StatementNames): Connection {
  return {
    async query(text, values = []) {
      const name = names.nameOf(text);
      return (await client.query<Row>({ ...(name === undefined ? {} : { name }), text, values: [...values] })).rows;
    },
  };
}

async function transaction<T>(
  client: PoolClient,
  names: StatementNames,
  begin: string,
  work: (statements: Connection) => Promise<T>,
  lose: (error: Error) => void,
): Promise<T> {
  // The first statement is sent behind it at once. If this fails, the connection is lost, and so is what follows.
  const begun = client.query({ text: begin, ...{ query_timeout: beginTimeoutMs } });
  begun.catch(lose);
  try {
    const result = await work(statementsOf(client, names));
    await begun;
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(lose);
    throw error;
  }
}

async function abortable<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(givenUp(signal));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([result, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    result.catch(() => {});
    promise.catch(() => {});
  }
}
