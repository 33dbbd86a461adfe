import type { CorrectedWord, Page, ScoredWords } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { NearestRequest, ScoredVector, ScoreRequest, VectorLook } from '../vectors/vector.ts';

export interface Passage {
  /** Unique. */
  readonly id: string;
  /** Position in the document, from 0. */
  readonly position: number;
  readonly title: string;
  /** Outermost first. */
  readonly headings: readonly string[];
  readonly body: string;
  /** Exact values for filters: tags and types, as the engine writes them. */
  readonly labels: readonly string[];
}

export interface StoredPassage extends Passage {
  /** Row key, constant for the life of the passage and never reused. */
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
  /** All matching passages, on any page, up to `matchesMax`: counting more would take longer than searching. */
  readonly total: number;
  /** Upper bound of the score: a passage that repeats every query word. 0 for a query without words. */
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
  /** The candidates so far. The owners of the nearest vectors join them. */
  readonly keys: readonly number[];
  /** If given, the candidates are scored by its words. */
  readonly query: WordQuery | undefined;
  /** The vectors to score, by their keys or, if the database has a vector index, by their `allowed` owners. */
  readonly vectors: ScoreRequest | NearestRequest<PassageFilter> | undefined;
  /** Max owners of scored vectors that become candidates. */
  readonly ownersMax: number;
}

export interface CompletedPassages {
  readonly passages: readonly StoredPassage[];
  readonly words: ScoredWords | undefined;
  readonly scored: readonly ScoredVector[];
}

export const matchesMax = 10_000;

export interface PassageHit {
  readonly key: number;
  readonly id: string;
  readonly parent: string;
  readonly position: number;
  /** Above 0. Comparable within a query, not between queries. */
  readonly score: number;
  /** See Ranked. */
  readonly coverage?: number | undefined;
}
