import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { CarrelError } from '../../../base/errors.ts';
import type { Row } from '../../rows.ts';
import { cancelledRead } from '../../transactions.ts';
import { isLost, isSilence, isUnsent } from './storage-error.ts';

/** Statements of one transaction. Texts are constant; values are bound, never put into the text. */
export interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Queried right after every COMMIT; its row arrives before the write is acknowledged, undefined if the query failed. */
export interface AfterCommit {
  readonly query: string;
  onRow(row: Row | undefined): void;
}

/** State of one attempt, for deciding whether to retry it. */
export interface Attempt {
  /** COMMIT was sent, so the transaction may have been committed. */
  isCommitted: boolean;
  /** COMMIT got no answer: the server may still be waiting for a standby. */
  isHeld: boolean;
}

/** Timeout for BEGIN: a pooler accepts clients and lets them wait while its server is busy or down. */
const beginTimeoutMs = 10_000;

/** `answerMs`: a statement without an answer for this long breaks the connection. */
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
 * Ends a long transaction when its client dies: otherwise the server notices only when it answers, and holds the locks until then. Not
 * all systems support it.
 */
export const endedWithClient = `DO $$ BEGIN
  PERFORM set_config('client_connection_check_interval', '1s', true); EXCEPTION WHEN OTHERS THEN NULL; END $$`;

/** Lifts all timeouts for one transaction, including those set on the server. */
export const unbounded = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; ${endedWithClient}`;

export interface TransactionParts<T> {
  readonly begin: string;
  /** Set for writes. */
  readonly write?: { readonly afterCommit: AfterCommit | undefined };
  readonly statements: Connection;
  readonly work: (statements: Connection) => Promise<T>;
  /** The connection must not be used again. */
  readonly onBroken: (error: Error) => void;
  readonly attempt: Attempt;
}

export async function transaction<T>(client: PoolClient, parts: TransactionParts<T>): Promise<T> {
  const { write, work, onBroken, attempt } = parts;
  // Statements are pipelined after BEGIN without waiting for it.
  const begun = client.query({ text: parts.begin, ...{ query_timeout: beginTimeoutMs } });
  begun.catch(onBroken);
  let isOver = false;
  const query: Connection['query'] = (sql, values) => {
    // A concurrent step may have failed and ended the transaction; the connection will soon serve another call.
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
  attempt.isCommitted = true;
  const committed = confirmed(client, attempt);
  // Pipelined.
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
 * A server waiting for a synchronous standby stops waiting when its query is cancelled, and reports success with a warning.
 * That is not a success: if the standby takes over, the write is lost.
 */
async function confirmed(client: PoolClient, attempt: Attempt): Promise<void> {
  let isUnreplicated = false;
  const onNotice = ({ routine }: { readonly routine?: string | undefined }): void => {
    isUnreplicated ||= routine === 'SyncRepWaitForLSN';
  };
  client.on('notice', onNotice);
  try {
    await client.query('COMMIT');
  } catch (error) {
    attempt.isCommitted = !isUnsent(error);
    attempt.isHeld = isSilence(error);
    if (attempt.isHeld || (isLost(error) && attempt.isCommitted)) throw unconfirmed(error);
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

/**
 * Names of prepared statements: repeated statements are parsed once per connection. A text has the same name in every process,
 * so behind a pooler that switches connections a name may be unknown or taken, but never means another statement.
 */
export interface StatementNames {
  /** Undefined for statements that are not worth preparing. */
  nameOf(text: string): string | undefined;
  /** True if a prepared statement caused the error: retry with other names or none. */
  isBlamed(error: unknown): boolean;
}

/** Max texts remembered; each connection keeps a plan of some ten kilobytes per prepared statement. */
const namesMax = 500;

/** Max characters: longer texts spell out lists of values and rarely repeat. */
const textMax = 4_000;

export function createStatementNames(): StatementNames {
  /** Undefined after the first use: only repeated statements are prepared. */
  const names = new Map<string, string | undefined>();
  let generation = 0;
  let isOff = false;
  return {
    nameOf(text) {
      // Single statements only, not SET and the like.
      if (isOff || text.length > textMax || !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) return undefined;
      const isRepeated = names.has(text);
      if (names.size >= namesMax && !isRepeated) names.clear();
      const digest = () => createHash('sha256').update(text).digest('hex').slice(0, 24);
      const name = names.get(text) ?? (isRepeated ? `carrel_${generation}_${digest()}` : undefined);
      names.set(text, name);
      return name;
    },
    isBlamed(error) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      // Unknown or duplicate name: a pooler without support for prepared statements switches connections.
      if (code === '26000' || code === '42P05') isOff = true;
      // Another process has changed a table.
      else if (code === '0A000' && /cached plan/.test(String(message))) generation += 1;
      else return false;
      names.clear();
      return true;
    },
  };
}
