import type { FoundPage, IndexedTexts, Page, WeighedWords, WeighRequest } from '../../../words/ranking/word-index.ts';
import type { WordQuery } from '../../../words/word-query.ts';

/**
 * What is done with a database, as steps. The entries are written once for both databases: a generator yields each step,
 * and SQLite's thread performs it at once while PostgreSQL's connection waits for it. What differs is in the `Engine`.
 */
export type Work<Result, On = Engine> = Generator<Step<On>, Result, unknown>;

export type Step<On = Engine> = (engine: On) => unknown;

export type Row = Readonly<Record<string, unknown>>;

export type SqlValue = string | number | null | Uint8Array;

/** What every database does. */
export interface Queries {
  /** Values are bound to the question marks in their order; lists are made by `dialect.list`. */
  query(sql: string, values: readonly (SqlValue | ListValue)[]): MaybePromise<Row[]>;
}

export interface Engine extends Queries {
  writeWords(documents: readonly (IndexedTexts & { readonly key: number })[]): MaybePromise<void>;
  /** `condition` is one on the entries `o`; without it, all that are indexed may be found. `isWide`: see filter-condition. */
  findWords(query: WordQuery, condition: Condition | undefined, isWide: boolean, page: Page): MaybePromise<FoundPage>;
  weighWords(request: WeighRequest): MaybePromise<WeighedWords>;
}

export type MaybePromise<T> = T | Promise<T>;

export interface Condition {
  readonly sql: string;
  readonly values: readonly (SqlValue | ListValue)[];
}

/** Many values under one question mark. */
export interface ListValue {
  readonly list: readonly (string | number)[];
}

/** The questions that the databases answer differently. */
export interface Dialect {
  /** Stands before the names of our tables. */
  readonly schema: string;
  /** A list as something that `IN` takes. */
  readonly integers: string;
  readonly numbers: string;
  readonly texts: string;
  /** The place of the second text in the first, from 1; 0 when it is not in there. */
  position(text: string, part: string): string;
  /** The last characters of the first text, as many as the second has. */
  ending(text: string, part: string): string;
  /** Of two values. */
  least(first: string, second: string): string;
  greatest(first: string, second: string): string;
  /** Behind a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /** Behind a SELECT whose rows must stay as they are until the end. */
  readonly forShare: string;
  /** Lets one transaction at a time pass for each text of a list. Undefined where there is only one writer. */
  readonly lock: string | undefined;
  /** The tables of the word index from which an entry has to be taken. Triggers keep the others in step. */
  readonly wordTables: readonly string[];
  /** At the end of a subquery that shall be asked of each row: nothing, or what keeps it from being made a join. */
  readonly fence: string;
  /** Rows in which the plan of a statement comes. */
  explain(sql: string): string;
  planLine(row: Row): string;
}

export function* ask<Result, On = Engine>(step: (engine: On) => MaybePromise<Result>): Work<Result, On> {
  // The runner gives back what the step returned; a generator's type cannot say so.
  return (yield step) as Result;
}

export function* query(sql: string, ...values: (SqlValue | ListValue)[]): Work<Row[], Queries> {
  return yield* ask((engine: Queries) => engine.query(sql, values));
}

/** For an engine whose steps return at once. */
export function runNow<Result, On>(work: Work<Result, On>, engine: On): Result {
  for (let next = work.next(); ; ) {
    if (next.done) return next.value;
    next = work.next(next.value(engine));
  }
}

/** An error of a step ends the work: a transaction in which one has failed cannot go on. */
export async function runInTurn<Result, On>(work: Work<Result, On>, engine: On): Promise<Result> {
  for (let next = work.next(); ; ) {
    if (next.done) return next.value;
    next = work.next(await next.value(engine));
  }
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is no text`);
  return value;
}

export function optionalTextOf(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/** PostgreSQL gives 64 bits as text. */
export function numberOf(row: Row, column: string): number {
  const value = Number(row[column]);
  if (!Number.isFinite(value)) throw new TypeError(`column ${column} is no number`);
  return value;
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} holds no bytes`);
  return value;
}
