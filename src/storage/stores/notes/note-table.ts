import type { Statements } from '../../statements.ts';
import type { KeyFilter } from '../words/word-table.ts';

/** What the databases do differently with notes: how their tags are indexed. */
export interface NoteTable {
  /** Beside the list that the note itself has. */
  indexTags(on: Statements, note: number, tags: readonly string[]): Promise<void>;
  /** The notes that have all of these, each of which comes once. */
  tagged(tags: readonly string[]): KeyFilter;
}
