import type { CorrectedWord, Page, ScoredWords } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { NearestRequest, ScoredVector, ScoreRequest, VectorSnapshot } from '../vectors/vector.ts';

export interface Passage {
  /** Unique among all passages. */
  readonly id: string;
  /** Position in the document, from 0. */
  readonly position: number;
  readonly title: string;
  /** Headings above the passage, outermost first. */
  readonly headings: readonly string[];
  readonly body: string;
  /** Values that filters compare exactly: tags and types, as the engine writes them. */
  readonly labels: readonly string[];
}

export interface StoredPassage extends Passage {
  /** Key of the row. It never changes and is never reused. */
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
  /** Number of matching passages on all pages, up to 10,000. Counting more would take longer than searching. */
  readonly total: number;
  /** Upper bound of scores: that of a passage that repeats every query word. 0 for a query without words. */
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
  readonly near: VectorSnapshot | undefined;
}

export interface CompletePassages {
  /** The candidates so far. Owners of the nearest vectors are added to them. */
  readonly keys: readonly number[];
  /** If set, the candidates are scored by the words of this query. */
  readonly query: WordQuery | undefined;
  /** The vectors to score: by their keys or, if the database has a vector index, by their `allowed` owners. */
  readonly vectors: ScoreRequest | NearestRequest<PassageFilter> | undefined;
  /** Max owners of scored vectors that become candidates. */
  readonly ownersMax: number;
}

export interface CompletedPassages {
  readonly passages: readonly StoredPassage[];
  readonly words: ScoredWords | undefined;
  readonly scored: readonly ScoredVector[];
}

export interface PassageHit {
  readonly key: number;
  readonly id: string;
  readonly parent: string;
  readonly position: number;
  /** Greater than 0. Comparable within one query only. */
  readonly score: number;
  /** See Ranked. */
  readonly coverage?: number | undefined;
}
