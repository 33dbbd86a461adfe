import type { Writable } from 'node:stream';
import type { PoolClient } from 'pg';
import { CarrelError } from '../../base/errors.ts';
import { givenUp } from '../contracts/read-options.ts';
import type { Place } from '../dialect.ts';
import type { Row } from '../rows.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { isPreparable, type StatementNames } from './statement-names.ts';
import { createAssumptions, type SteadyReads } from './steady-reads.ts';
import { isLost, isSilence, isUnsent } from './storage-error.ts';

/** Statements of one transaction. Texts are constant and values are bound: none is ever put into the text. */
export interface Connection {
  /** See Statements. */
  query(sql: string, values?: readonly unknown[], place?: Place): Promise<Row[]>;
}

export interface ReadCondition {
  /** The second of them is a SELECT of one row. */
  readonly begin: readonly string[];
  accept(row: Row): boolean;
}

/** Asked with every commit of a write, and told before that is acknowledged; undefined if there was no answer. */
export interface AfterCommit {
  readonly query: string;
  tell(row: Row | undefined): void;
}

/** What is known of one attempt, once it has failed. */
export interface Attempt {
  /** It may have been done: the last message was sent. */
  isCommitted: boolean;
  /** Its connection was not opened for it. */
  isOld: boolean;
  /** The server has not said whether it is done: it may still wait for a standby, and holds what it waits with. */
  isHeld: boolean;
}

/** How a transaction is run. */
export interface Run {
  readonly begin: readonly string[];
  readonly accept?: ReadCondition['accept'] | undefined;
  /** The server stops a statement after this; 0 for never. */
  readonly statementMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Given, and perhaps undefined, for a write. */
  readonly write?: { readonly afterCommit: AfterCommit | undefined };
}

/** How long a transaction may take to begin, where that is asked for by itself. A pooler accepts everybody, and has them wait while its server is busy or away. */
const beginTimeoutMs = 10_000;

/** What a transaction fails with whose condition does not hold. */
export const unaccepted = new Error('the condition of a read does not hold');

/** `answerMs`: a server that says nothing for so long is given up. */
export function statementsOf(client: PoolClient, names: StatementNames, answerMs: number): Connection {
  return {
    async query(text, values = []) {
      const name = names.nameOf(text);
      const statement = { ...(name === undefined ? {} : { name }), text, values: [...values], query_timeout: answerMs };
      sendTogether(client);
      return (await client.query<Row>(statement)).rows;
    },
  };
}

/** The same for a transaction that reads: what is asked for without waiting goes out together. */
export function readsOf(client: PoolClient, names: StatementNames, answerMs: number): Connection & Exchange {
  const exchange = createExchange(client, answerMs);
  const apart = statementsOf(client, names, answerMs);
  return {
    ...exchange,
    query(text, values = []) {
      if (values.length > 0 || isPreparable(text)) return exchange.ask({ name: names.nameOf(text), text, values });
      // It may be several statements.
      exchange.flush();
      return apart.query(text);
    },
  };
}

/**
 * A statement of a transaction that ends when its client does. Otherwise the server notices a client that was killed only
 * when it answers, and what takes minutes holds its locks for as long. On systems that cannot tell, it stays so.
 */
export const endedWithClient = `DO $$ BEGIN
  PERFORM set_config('client_connection_check_interval', '1s', true); EXCEPTION WHEN OTHERS THEN NULL; END $$`;

interface Running<T> extends Omit<Run, 'statementMs' | 'signal'> {
  readonly statements: Connection & Partial<Exchange>;
  readonly steady: SteadyReads;
  readonly work: (statements: Connection) => Promise<T>;
  readonly lose: (error: Error) => void;
  readonly attempt: Attempt;
}

export async function transaction<T>(client: PoolClient, running: Running<T>): Promise<T> {
  const { accept, write, work, lose, attempt } = running;
  let begun = begin(client, running);
  let ended: Promise<unknown> | undefined;
  const assumptions = createAssumptions(running.steady);
  const end = (text: string): Promise<unknown> => running.statements.ask?.({ text, values: [] }) ?? client.query(text);
  const query: Connection['query'] = (sql, values, place) => {
    if (ended !== undefined) begun = begin(client, running);
    const answer = running.statements.query(sql, values);
    // Sent with it: a message by itself costs both sides as much as a short statement.
    ended = place === 'last' && write === undefined ? end('COMMIT') : undefined;
    ended?.catch(() => {});
    if (place !== 'steady' || write !== undefined) return answer;
    return assumptions.take(JSON.stringify([sql, values]), answer);
  };
  try {
    // The types know nothing of messages with several statements.
    if (accept && !accept(((await begun) as unknown as { rows: Row[] }[])[1]?.rows[0] ?? {})) throw unaccepted;
    let result = await work({ query });
    if (!(await assumptions.hold())) result = await work({ query });
    await begun;
    if (write === undefined) await (ended ?? end('COMMIT'));
    else await commit(client, write.afterCommit, attempt);
    return result;
  } catch (error) {
    const isMistaken = !(await assumptions.hold().catch(() => true));
    // Where the end was sent behind what failed, it was not done.
    await end('ROLLBACK').catch(lose);
    throw isMistaken ? mistaken(error) : error;
  }
}

/** What failed because something was assumed that is so no longer is done again, like what another transaction was in the way of. */
function mistaken(cause: unknown): Error {
  return Object.assign(new Error('what was assumed is not so any more', { cause }), { code: '40001' });
}

/** The first statement is sent behind it at once. If this fails, the connection is lost, and so is what follows. */
function begin(client: PoolClient, { begin: texts, accept, statements, lose }: Beginning): Promise<unknown> {
  const { ask, flush } = statements;
  let begun: Promise<unknown>;
  if (ask === undefined || accept !== undefined) {
    flush?.();
    sendTogether(client);
    begun = client.query({ text: texts.join('; '), ...{ query_timeout: beginTimeoutMs } });
  } else begun = Promise.all(texts.map((text) => ask({ text, values: [] })));
  begun.catch(lose);
  return begun;
}

type Beginning = Pick<Running<unknown>, 'begin' | 'accept' | 'statements' | 'lose'>;

/** Statements that are sent one after the other without waiting go out as one. */
function sendTogether(client: PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

async function commit(client: PoolClient, afterCommit: AfterCommit | undefined, attempt: Attempt): Promise<void> {
  attempt.isCommitted = true;
  const committed = confirmed(client, attempt);
  // Sent behind it, without waiting.
  const asked = afterCommit && client.query<Row>(afterCommit.query).then(firstRow, () => undefined);
  await committed;
  if (asked) afterCommit?.tell(await asked);
}

function firstRow({ rows }: { readonly rows: readonly Row[] }): Row | undefined {
  return rows[0];
}

/**
 * A server that waits for a standby's word stops waiting when somebody cancels that, and reports success with a warning. What
 * the standby does not have is lost if it takes over, so that is no success.
 */
async function confirmed(client: PoolClient, attempt: Attempt): Promise<void> {
  let isAlone = false;
  const heed = ({ routine }: { readonly routine?: string | undefined }): void => {
    isAlone ||= routine === 'SyncRepWaitForLSN';
  };
  client.on('notice', heed);
  try {
    await client.query('COMMIT');
  } catch (error) {
    attempt.isCommitted = !isUnsent(error);
    attempt.isHeld = isSilence(error);
    if (attempt.isHeld || (isLost(error) && attempt.isCommitted)) throw unconfirmed(error);
    throw error;
  } finally {
    client.off('notice', heed);
  }
  if (isAlone) throw unconfirmed();
}

function unconfirmed(cause?: unknown): CarrelError {
  return new CarrelError(
    'unavailable',
    'The database did not confirm the write. Look whether it is stored before you try again.',
    { cause, retryAfterSeconds: 1 },
  );
}

export async function abortable<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
