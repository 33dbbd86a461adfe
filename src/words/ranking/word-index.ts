import type { WordQuery } from '../word-query.ts';
import type { TermScore } from './bm25.ts';

/** What both backends' word indexes take and give. */
export interface IndexedTexts {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}

export interface IndexedDocument extends IndexedTexts {
  readonly key: number;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Ranked {
  readonly key: number;
  readonly score: number;
}

export interface FoundPage {
  /** In order. */
  readonly found: readonly Ranked[];
  readonly total: number;
  /** What a document with every word of the query, often, would score. 0 for a query without words. */
  readonly scoreMax: number;
}

/** Asks what the words of a query say about documents that are known already. */
export interface WeighRequest {
  readonly query: WordQuery;
  /** Those beyond `weighedMax` are left out. */
  readonly keys: readonly number[];
}

export const weighedMax = 500;

export interface WeighedWords {
  /** In no order; documents without any of the words are left out. */
  readonly weighed: readonly WeighedDocument[];
  /** As in `FoundPage`. */
  readonly scoreMax: number;
}

export interface WeighedDocument {
  readonly key: number;
  /** The sum of its terms' scores, as a search would give it. */
  readonly score: number;
  /** The most important first. */
  readonly terms: readonly TermScore[];
}

/** Up to here the documents that hold a word are counted; beyond it their number is estimated. */
export const countedMax = 20_000;
