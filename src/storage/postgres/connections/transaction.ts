import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { CarrelError } from '../../../base/errors.ts';
import type { Row } from '../../rows.ts';
import { cancelledRead } from '../../transactions.ts';
import { isLost, isUnanswered, isUnsent } from './storage-error.ts';

/** Runs the statements of one transaction. Values are bound, never inserted into the SQL. */
export interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A query that runs after every COMMIT. `onRow` gets its row, or undefined if it failed, before the write is acknowledged. */
export interface AfterCommit {
  readonly query: string;
  onRow(row: Row | undefined): void;
}

/** State of one attempt. It decides if the attempt can be repeated. */
export interface Attempt {
  /** True once COMMIT may have reached the server. */
  mayBeCommitted: boolean;
  /** True if COMMIT got no answer. The server may still be waiting for a standby. */
  isUnanswered: boolean;
}

/** Timeout of BEGIN. A pooler accepts clients even while its server is busy or down, and lets them wait. */
const beginTimeoutMs = 10_000;

/** Creates the statements of a connection. A statement without an answer within `answerMs` breaks the connection. */
export function statementsOf(client: PoolClient, names: StatementNames, answerMs: number): Connection {
  return {
    async query(text, values = []) {
      const name = names.nameOf(text);
      const statement = { ...(name === undefined ? {} : { name }), text, values: [...values], query_timeout: answerMs };
      return (await client.query<Row>(statement)).rows;
    },
  };
}

/**
 * Makes the server end a long transaction when its client dies. Otherwise the server notices that only when it sends the answer, and
 * keeps the locks until then. Not all operating systems support this.
 */
export const endedWithClient = `DO $$ BEGIN
  PERFORM set_config('client_connection_check_interval', '1s', true); EXCEPTION WHEN OTHERS THEN NULL; END $$`;

/** Statements that remove all timeouts of one transaction, including those configured on the server. */
export const noTimeouts = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; ${endedWithClient}`;

export interface TransactionParts<T> {
  readonly begin: string;
  /** Set only for writes. */
  readonly write?: { readonly afterCommit: AfterCommit | undefined };
  readonly statements: Connection;
  readonly work: (statements: Connection) => Promise<T>;
  /** Called if the connection must not be used again. */
  readonly onBroken: (error: Error) => void;
  readonly attempt: Attempt;
}

export async function transaction<T>(client: PoolClient, parts: TransactionParts<T>): Promise<T> {
  const { write, work, onBroken, attempt } = parts;
  // Statements are sent after BEGIN without waiting for its answer (pipelining).
  const begun = client.query({ text: parts.begin, ...{ query_timeout: beginTimeoutMs } });
  begun.catch(onBroken);
  let isOver = false;
  const query: Connection['query'] = (sql, values) => {
    // A concurrent step may have failed and ended the transaction. The connection may soon be used by another call.
    if (isOver) return Promise.reject(new Error('The transaction has ended.'));
    return parts.statements.query(sql, values);
  };
  try {
    const result = await work({ query });
    isOver = true;
    await begun;
    if (write === undefined) await client.query('COMMIT');
    else await commit(client, write.afterCommit, attempt);
    return result;
  } catch (error) {
    isOver = true;
    await client.query('ROLLBACK').catch(onBroken);
    throw error;
  }
}

async function commit(client: PoolClient, afterCommit: AfterCommit | undefined, attempt: Attempt): Promise<void> {
  attempt.mayBeCommitted = true;
  const committed = commitAndConfirm(client, attempt);
  // Sent without waiting for the answer to COMMIT (pipelining).
  const row =
    afterCommit &&
    client.query<Row>(afterCommit.query).then(
      ({ rows }) => rows[0],
      () => undefined,
    );
  await committed;
  if (row) afterCommit?.onRow(await row);
}

/**
 * Commits, and throws unless the commit is confirmed. If the query is cancelled, a server stops waiting for its synchronous
 * standby, and reports success with a warning. Such a write is lost if the standby takes over.
 */
async function commitAndConfirm(client: PoolClient, attempt: Attempt): Promise<void> {
  let isUnreplicated = false;
  const onNotice = ({ routine }: { readonly routine?: string | undefined }): void => {
    isUnreplicated ||= routine === 'SyncRepWaitForLSN';
  };
  client.on('notice', onNotice);
  try {
    await client.query('COMMIT');
  } catch (error) {
    attempt.mayBeCommitted = !isUnsent(error);
    attempt.isUnanswered = isUnanswered(error);
    if (attempt.isUnanswered || (isLost(error) && attempt.mayBeCommitted)) throw unconfirmed(error);
    throw error;
  } finally {
    client.off('notice', onNotice);
  }
  if (isUnreplicated) throw unconfirmed();
}

function unconfirmed(cause?: unknown): CarrelError {
  return new CarrelError(
    'unavailable',
    'The database did not confirm the write. Check whether it is stored before you try again.',
    { cause, retryAfterSeconds: 1 },
  );
}

export async function abortable<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(cancelledRead(signal));
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

/** Names of prepared statements. They are derived from the SQL, because processes may share connections through a pooler. */
export interface StatementNames {
  /** Returns undefined for statements that are not worth preparing. */
  nameOf(text: string): string | undefined;
  /** Forgets all names if one of them caused the error. Returns true if so; a retry then uses other names or none. */
  resetAfter(error: unknown): boolean;
}

/** Max statements remembered. A connection needs some ten kilobytes for the plan of each prepared statement. */
const namesMax = 500;

/** Max characters of a prepared statement. Longer ones contain lists of values and rarely repeat. */
const textMax = 4_000;

export function createStatementNames(): StatementNames {
  /** Names by SQL. Undefined after the first use, because only repeated statements are prepared. */
  const names = new Map<string, string | undefined>();
  let generation = 0;
  let isOff = false;
  return {
    nameOf(text) {
      // Only these are prepared. Texts that begin otherwise, such as SET, may contain several statements.
      if (isOff || text.length > textMax || !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) return undefined;
      const isRepeated = names.has(text);
      if (names.size >= namesMax && !isRepeated) names.clear();
      const digest = () => createHash('sha256').update(text).digest('hex').slice(0, 24);
      const name = names.get(text) ?? (isRepeated ? `carrel_${generation}_${digest()}` : undefined);
      names.set(text, name);
      return name;
    },
    resetAfter(error) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      // The name is unknown or already in use: a pooler that does not support prepared statements has switched connections.
      if (code === '26000' || code === '42P05') isOff = true;
      // The plan is outdated, because another process has changed a table.
      else if (code === '0A000' && /cached plan/.test(String(message))) generation += 1;
      else return false;
      names.clear();
      return true;
    },
  };
}
