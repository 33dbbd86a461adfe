import type { WordQuery } from '../word-query.ts';
import type { TermScore } from './bm25.ts';

export interface IndexedTexts {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
  /** Exact values for filters, indexed with the words. */
  readonly labels?: readonly string[];
}

export interface IndexedDocument extends IndexedTexts {
  readonly key: number;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** False to skip counting all matches, which takes as long as finding them. */
  readonly counts?: boolean | undefined;
}

export interface Ranked {
  readonly key: number;
  readonly score: number;
  /** Share of the query's words that the document has, weighted by rarity; 1 if it has all. Undefined if it was not computed. */
  readonly coverage?: number | undefined;
}

export interface FoundPage {
  readonly found: readonly Ranked[];
  /** Number of matches. If they were not counted, the number up to the end of this page. */
  readonly total: number;
  /** The highest possible score for the query; 0 if the query has no words. */
  readonly scoreMax: number;
  /** Replacements for query words that no document has. Only replacements that occur in the results. */
  readonly corrected: readonly CorrectedWord[];
}

export interface CorrectedWord {
  readonly word: string;
  readonly terms: readonly string[];
}

export interface ScoreWordsRequest {
  readonly query: WordQuery;
  /** Keys after the first `scoredKeysMax` are ignored. */
  readonly keys: readonly number[];
}

export const scoredKeysMax = 500;

export interface ScoredWords {
  /** Unordered; documents without any of the words are omitted. */
  readonly documents: readonly ScoredDocument[];
  readonly scoreMax: number;
}

export interface ScoredDocument {
  readonly key: number;
  /** The sum of the terms' scores: the same score as in a search. */
  readonly score: number;
  readonly terms: readonly TermScore[];
}

/** Max matches that are counted exactly. Larger numbers are estimates. */
export const countedMax = 20_000;
