import type { WordQuery } from '../word-query.ts';
import type { TermScore } from './bm25.ts';

export interface IndexedTexts {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
  /** Exact values that filters match, indexed along with the words. */
  readonly labels?: readonly string[];
}

export interface IndexedDocument extends IndexedTexts {
  readonly key: number;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** All matches are counted, unless this is false: to count many takes as long as to find them. */
  readonly counts?: boolean | undefined;
}

export interface Ranked {
  readonly key: number;
  readonly score: number;
  /** How much of the query's words it has, each by its rarity: 1 with every word. Not known far down a long list. */
  readonly coverage?: number | undefined;
}

export interface FoundPage {
  readonly found: readonly Ranked[];
  /** Of all matches. Where they are not counted, up to the end of this page. */
  readonly total: number;
  /** The score of a document that had every word of the query many times. 0 for a query without words. */
  readonly scoreMax: number;
  /** What was searched for instead of words that no document has, as far as it is in what was found. */
  readonly corrected: readonly CorrectedWord[];
}

export interface CorrectedWord {
  readonly word: string;
  readonly terms: readonly string[];
}

/** Asks how well given documents match the words of a query. */
export interface WeighRequest {
  readonly query: WordQuery;
  /** Those beyond `weighedMax` are left out. */
  readonly keys: readonly number[];
}

export const weighedMax = 500;

export interface WeighedWords {
  /** In no particular order; documents without any of the words are left out. */
  readonly weighed: readonly WeighedDocument[];
  readonly scoreMax: number;
}

export interface WeighedDocument {
  readonly key: number;
  /** The sum of its terms' scores, as a search would give it. */
  readonly score: number;
  readonly terms: readonly TermScore[];
}

/** The documents with a word are counted up to this number; beyond it, the count is an estimate. */
export const countedMax = 20_000;
