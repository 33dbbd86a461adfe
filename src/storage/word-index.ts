import type { Ranked } from './rank-pool.ts';

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

export interface FoundPage {
  /** In order. */
  readonly found: readonly Ranked[];
  readonly total: number;
  /** What a document with every word of the query, often, would score. 0 for a query without words. */
  readonly scoreMax: number;
}

export interface WordIndexConfig {
  /** The prefix of the index's tables. */
  readonly name: string;
  /** The table that its keys are of, which has an `id` that breaks ties. */
  readonly owner: string;
  /** How many candidates are scored exactly. What comes behind them is in the order of entry, the newest first. */
  readonly poolMax: number;
  /** Matches are counted up to here. */
  readonly totalMax: number;
}

/** Up to here the documents that hold a word are counted; beyond it their number is estimated. */
export const countedMax = 20_000;
