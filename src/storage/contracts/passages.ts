import type { MendedWord, Page, WeighedWords, WeighRequest } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { ReadOptions } from './read-options.ts';
import type { TextVectors } from './vectors.ts';

/**
 * The pieces of documents that a search finds. A document's passages are written together, so that a reader sees the old ones
 * or the new ones and never a mixture.
 */
export interface PassageStore {
  /** Puts each document's passages in the place of those it had. All documents in one transaction. */
  replace(documents: readonly PassageDocument[]): Promise<void>;
  remove(parents: readonly string[]): Promise<void>;
  /** In the order of the keys; keys that name nothing are left out. */
  get(keys: readonly number[], options?: ReadOptions): Promise<StoredPassage[]>;
  /** By words: the most relevant first, equals in the order of their ids. */
  search(request: PassageSearch, options?: ReadOptions): Promise<PassagePage>;
  /** What the words of a query say about passages that are known already, term by term. */
  weigh(request: WeighRequest, options?: ReadOptions): Promise<WeighedWords>;
}

export interface PassageDocument {
  /** The document that the passages are of. */
  readonly parent: string;
  readonly passages: readonly NewPassage[];
}

export interface NewPassage extends Passage {
  /** Where it was embedded before it is stored: kept in the same transaction. */
  readonly vectors?: TextVectors | undefined;
}

export interface Passage {
  /** Unique. */
  readonly id: string;
  /** Its place in the document, from 0. */
  readonly position: number;
  readonly title: string;
  /** From the outermost heading to the nearest. */
  readonly headings: readonly string[];
  readonly body: string;
  /** What filters match exactly: tags and types, as the engine writes them. */
  readonly labels: readonly string[];
}

export interface StoredPassage extends Passage {
  /** Of the row. Stays as long as the passage exists, and is never reused. */
  readonly key: number;
  readonly parent: string;
}

export interface PassageFilter {
  /** The passage must have at least one label of each group. */
  readonly labels?: readonly (readonly string[])[] | undefined;
  readonly parents?: readonly string[] | undefined;
}

export interface PassageSearch extends Page {
  readonly query: WordQuery;
  readonly filter?: PassageFilter | undefined;
}

export interface PassagePage {
  readonly hits: readonly PassageHit[];
  /** Of all matching passages, on this page or not, up to `matchesMax`: counting further would take longer than searching. */
  readonly total: number;
  /** What a passage with every word of the query, often, would score. 0 for a query without words. */
  readonly scoreMax: number;
  /** See FoundPage. */
  readonly mended: readonly MendedWord[];
}

export const matchesMax = 10_000;

export interface PassageHit {
  readonly key: number;
  readonly id: string;
  readonly parent: string;
  readonly position: number;
  /** Above 0. Scores of one query can be compared, those of different queries cannot. */
  readonly score: number;
  /** See Ranked. */
  readonly coverage?: number | undefined;
}
