import type { PassageFilter } from '../../contracts/passages.ts';
import type { IdPages } from '../../id-set.ts';
import type { Condition, Statements } from '../../statements.ts';
import type { KeyFilter } from '../words/word-table.ts';

/** What the databases do differently with passages: how their labels are indexed. */
export interface PassageTable {
  /** Completes rows that were just inserted, whose keys follow one another: what no trigger does. */
  complete(
    on: Statements,
    rows: readonly { readonly key: number; readonly labels: readonly string[] }[],
  ): Promise<void>;
  /** Before all passages of these documents are given other labels. */
  relabel(on: Statements, parents: readonly string[], labels: readonly string[]): Promise<void>;
  /** Undefined where all may pass. */
  filter(filter: PassageFilter): KeyFilter | undefined;
  /** What a SELECT of keys gives. */
  keys(on: Statements, select: Condition): Promise<IdPages>;
}
