import type { StagedOriginal } from './contracts/ingestion.ts';
import type { StorageDescription } from './contracts/storage.ts';
import type { Row, Statements } from './statements.ts';
import type { PassageTable } from './stores/passages/passage-table.ts';
import type { VectorTable } from './stores/vectors/vector-table.ts';
import type { KeyFilter, WordTable } from './stores/words/word-table.ts';

/** Where the databases differ. */
export interface Dialect {
  /** The prefix of our table names. */
  readonly schema: string;
  /** A list as something that `IN` takes. */
  readonly integers: string;
  readonly numbers: string;
  readonly texts: string;
  /** The position of the second text in the first, from 1; 0 if it is not contained. */
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
  /** Admits one transaction at a time for each text of a list. Undefined if there is only one writer. */
  readonly lock: string | undefined;
  /** At the end of a subquery that must be evaluated per row: nothing, or what keeps it from becoming a join. */
  readonly fence: string;
  /** The statement that returns the plan of another. */
  explain(sql: string): string;
  planLine(row: Row): string;
  /** The database's own clock in milliseconds: leases are compared by it, so that no two machines disagree. */
  readonly nowMs: string;
  /** Behind a SELECT that picks a job: one that another transaction is picking is passed over. */
  readonly skipLocked: string;
  /** Rows that one INSERT carries, where many come. */
  readonly rowsAtOnce: number;
  readonly words: WordTable;
  readonly notes: NoteTable;
  readonly passages: PassageTable;
  readonly vectors: VectorTable;
  readonly originals: Originals;
  describe(on: Statements): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each. */
  check(on: Statements): Promise<string[]>;
}

/** Where the databases differ for notes: how their tags are indexed. */
export interface NoteTable {
  /** Besides the list in the note itself. Replaces what was indexed of the note. */
  indexTags(on: Statements, note: number, tags: readonly string[]): Promise<void>;
  /** The notes that have all of these tags; each is returned once. */
  tagged(tags: readonly string[]): KeyFilter;
}

/** The bytes of documents, as part of the running transaction. */
export interface Originals {
  /** Puts staged bytes under the hash of their content, for good. */
  adopt(on: Statements, staged: StagedOriginal): Promise<void>;
  remove(on: Statements, hash: string): Promise<void>;
}
