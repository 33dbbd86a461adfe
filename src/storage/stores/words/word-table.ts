import type { DocumentTerms } from '../../../words/ranking/bm25.ts';
import type { CandidatePlan, CountCache } from '../../../words/ranking/candidates.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import type { WordLeaf, WordQuery } from '../../../words/word-query.ts';
import type { Condition, Statements } from '../../statements.ts';
import type { WordIndex } from './word-indexes.ts';

/** A SELECT of the keys that may be found, in a column of that name, in any order and perhaps several times. */
export interface KeyFilter extends Condition {
  /** So many pass that each document found is tested, instead of listing the keys first. */
  readonly isWide?: boolean;
}

/** What the databases do differently with the words of documents. */
export interface WordTable {
  /** The document's key in the rows `w` of an index. */
  readonly key: string;
  /** The tables from which a document has to be taken, behind the prefix. Triggers keep the others in step. */
  readonly tables: readonly string[];
  readonly counts: CountCache;
  /** Begins at once where another thread helps, else as the terms are asked for. They come in the order of the texts. */
  cut(texts: readonly IndexedTexts[]): Iterable<DocumentTerms>;
  /** Terms of documents that are not in the index, in the order of the keys, which must ascend. */
  write(on: Statements, index: WordIndex, keys: readonly number[], terms: Iterable<DocumentTerms>): Promise<void>;
  /** In how many documents each of these is, of all `documents`. */
  count(on: Statements, index: WordIndex, leaves: readonly WordLeaf[], documents: number): Promise<number[]>;
  /** The filter as a condition on the rows `w`, to be put behind another one. */
  narrow(filter: KeyFilter): Condition;
  /** `FROM … WHERE …`: the rows `w` that a query finds; with a plan, those that are candidates by it. */
  matches(index: WordIndex, query: WordQuery, narrowed: Condition | undefined, plan?: CandidatePlan): Condition;
  /** By which candidates are put in a rough order, the best first. */
  order(index: WordIndex, plan: CandidatePlan, weightOf: (leaf: WordLeaf) => number): Condition;
}
