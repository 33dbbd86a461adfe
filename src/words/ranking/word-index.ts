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
  /** False skips counting all matches, which takes as long as finding them. */
  readonly counts?: boolean | undefined;
}

export interface Ranked {
  readonly key: number;
  readonly score: number;
  /** How much of the query's words it has, weighted by rarity: 1 with every word. Unknown far down a long list. */
  readonly coverage?: number | undefined;
}

export interface FoundPage {
  readonly found: readonly Ranked[];
  /** Number of matches; if they are not counted, only those up to the end of this page. */
  readonly total: number;
  /** Upper bound of the score: a document that repeats every query word. 0 for a query without words. */
  readonly scoreMax: number;
  /** Replacements for words that no document has, if they occur in the results. */
  readonly corrected: readonly CorrectedWord[];
}

export interface CorrectedWord {
  readonly word: string;
  readonly terms: readonly string[];
}

/** How well given documents match the words of a query. */
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
  /** The sum of its terms' scores, as in a search. */
  readonly score: number;
  readonly terms: readonly TermScore[];
}

/** Exact counts stop here; larger counts are estimates. */
export const countedMax = 20_000;
