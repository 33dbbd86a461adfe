import type { Row } from './statements.ts';

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
