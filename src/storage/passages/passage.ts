import type { FoundPage, Page, Ranked, ScoredWords } from '../../words/ranking/word-index.ts';
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

/** `total` is at most 10,000. Counting more would take longer than searching. */
export interface PassagePage extends Omit<FoundPage, 'found'> {
  readonly hits: readonly PassageHit[];
}

export interface FindPassages {
  readonly words: PassageSearch | undefined;
  readonly nearest: NearestRequest<PassageFilter> | undefined;
}

export interface FoundPassages {
  readonly words: PassagePage | undefined;
  readonly vectors: VectorSnapshot | undefined;
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

/** Scores of different queries cannot be compared. */
export interface PassageHit extends Ranked, Pick<StoredPassage, 'id' | 'parent' | 'position'> {}
