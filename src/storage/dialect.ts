import type { FoundPage, IndexedDocument, Page, WeighedWords, WeighRequest } from '../words/ranking/word-index.ts';
import type { WordQuery } from '../words/word-query.ts';
import type { StagedOriginal } from './contracts/ingestion.ts';
import type { PassageDocument } from './contracts/passages.ts';
import type { Condition, Row, Statements } from './statements.ts';

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
  /** The database's own clock in milliseconds: leases are compared by it, so that no two machines disagree. */
  readonly nowMs: string;
  /** Behind a SELECT that picks a job: one that another transaction is picking is passed over. */
  readonly skipLocked: string;
  readonly entryWords: EntryWords;
  readonly passages: PassageTexts;
  readonly originals: Originals;
}

/** The word index of the entries, as a part of the transaction or read that runs. */
export interface EntryWords {
  write(on: Statements, documents: readonly IndexedDocument[]): Promise<void>;
  /** `condition` is one on the entries `o`; without it, all that are indexed may be found. `isWide`: see filter-condition. */
  find(
    on: Statements,
    query: WordQuery,
    condition: Condition | undefined,
    isWide: boolean,
    page: Page,
  ): Promise<FoundPage>;
  weigh(on: Statements, request: WeighRequest): Promise<WeighedWords>;
}

/** The passages of documents, as a part of the transaction that runs. */
export interface PassageTexts {
  /** Puts each document's passages in the place of those it had. */
  replace(on: Statements, documents: readonly PassageDocument[]): Promise<void>;
  remove(on: Statements, parents: readonly string[]): Promise<void>;
  /** Puts these labels on all passages of the documents, in the place of those they had. */
  relabel(on: Statements, parents: readonly string[], labels: readonly string[]): Promise<void>;
}

/** The bytes of documents, as a part of the transaction that runs. */
export interface Originals {
  /** Puts staged bytes under the hash of their content, for good. */
  adopt(on: Statements, staged: StagedOriginal): Promise<void>;
  remove(on: Statements, hash: string): Promise<void>;
}
