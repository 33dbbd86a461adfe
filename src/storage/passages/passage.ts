import type { CorrectedWord, Page, WeighedWords } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { NearestRequest, ScoredVector, ScoreRequest, VectorLook } from '../vectors/vector.ts';

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
  readonly corrected: readonly CorrectedWord[];
}

export interface FindPassages {
  readonly words: PassageSearch | undefined;
  readonly near: NearestRequest<PassageFilter> | undefined;
}

export interface FoundPassages {
  readonly words: PassagePage | undefined;
  readonly near: VectorLook | undefined;
}

export interface CompletePassages {
  /** The candidates so far; the owners of the nearest vectors follow. */
  readonly keys: readonly number[];
  /** Their words are weighed. */
  readonly query: WordQuery | undefined;
  /** Vectors to score: by their keys, or, where the database has an index, by their owners. */
  readonly vectors: ScoreRequest | NearestRequest<PassageFilter> | undefined;
  /** Max owners of scored vectors that become candidates. */
  readonly ownersMax: number;
}

export interface CompletedPassages {
  readonly passages: readonly StoredPassage[];
  readonly weighed: WeighedWords | undefined;
  readonly scored: readonly ScoredVector[];
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
