import type { FoundPage, IndexedTexts, Page, WeighedWords, WeighRequest } from '../../../words/ranking/word-index.ts';
import type { WordQuery } from '../../../words/word-query.ts';
import type { BoundValue, Condition, Row } from '../../statements.ts';

/**
 * What is done with a database, as steps. The entries are written once for both databases: a generator yields each step,
 * and SQLite's thread performs it at once while PostgreSQL's connection waits for it. What differs is in the `Engine`.
 */
export type Work<Result, On = Engine> = Generator<Step<On>, Result, unknown>;

export type Step<On = Engine> = (engine: On) => unknown;

/** What every database does. */
export interface Queries {
  /** Values are bound to the question marks in their order; lists are made by `dialect.list`. */
  query(sql: string, values: readonly BoundValue[]): MaybePromise<Row[]>;
}

export interface Engine extends Queries {
  writeWords(documents: readonly (IndexedTexts & { readonly key: number })[]): MaybePromise<void>;
  /** `condition` is one on the entries `o`; without it, all that are indexed may be found. `isWide`: see filter-condition. */
  findWords(query: WordQuery, condition: Condition | undefined, isWide: boolean, page: Page): MaybePromise<FoundPage>;
  weighWords(request: WeighRequest): MaybePromise<WeighedWords>;
}

export type MaybePromise<T> = T | Promise<T>;

export function* ask<Result, On = Engine>(step: (engine: On) => MaybePromise<Result>): Work<Result, On> {
  // The runner gives back what the step returned; a generator's type cannot say so.
  return (yield step) as Result;
}

export function* query(sql: string, ...values: BoundValue[]): Work<Row[], Queries> {
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
