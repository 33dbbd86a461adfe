import type { Ranked } from './rank-pool.ts';

/** What both backends' word indexes take and give. */
export interface IndexedTexts {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface FoundPage {
  /** In order. */
  readonly found: readonly Ranked[];
  readonly total: number;
}
