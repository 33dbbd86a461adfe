import { estimateTokens } from '../../../answers/token-estimate.ts';
import type { EngineChunk } from '../../../engine/engine.ts';

/** Where a page or a section begins. */
export interface OutlineEntry {
  chunk_index: number;
  page?: number;
  heading?: string;
}

export type PlacedChunk = Pick<EngineChunk, 'chunk_index' | 'chunk_metadata'>;

/** Headings are nested this deep at most in an outline. */
const depthMax = 4;

/**
 * The pages and headings of a document, within a budget: if all are too many, fewer levels of headings, then every second
 * entry, every fourth and so on. Empty if the document has neither.
 */
export function outlineOf(chunks: readonly PlacedChunk[], budget: number): OutlineEntry[] {
  let entries = entriesOf(chunks, depthMax, true);
  for (let depth = depthMax; depth > 0 && !isAffordable(entries, budget); depth -= 1) {
    const fewer = entriesOf(chunks, depth, false);
    // A few headings in a long document are no outline: more levels, or the pages, are better.
    if (fewer.length < fewestUseful) break;
    entries = fewer;
  }
  while (!isAffordable(entries, budget)) entries = entries.filter((_, index) => index % 2 === 0);
  return entries;
}

const fewestUseful = 8;

function isAffordable(entries: readonly OutlineEntry[], budget: number): boolean {
  return entries.length <= 1 || estimateTokens(JSON.stringify(entries)) <= budget;
}

function entriesOf(chunks: readonly PlacedChunk[], depth: number, everyPage: boolean): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  let before: { page?: number | undefined; heading?: string | undefined } = {};
  for (const { chunk_index, chunk_metadata: place } of chunks) {
    // An engine that is not ours may put anything there.
    const page = typeof place.page === 'number' ? place.page : undefined;
    const path = typeof place.section_header === 'string' ? place.section_header : undefined;
    const heading = path?.split(' > ', depth).join(' > ').slice(0, headingCharsMax);
    const isNew = heading !== undefined && heading !== before.heading;
    if (isNew || (everyPage && page !== undefined && page !== before.page)) {
      entries.push({
        chunk_index,
        ...(page === undefined ? {} : { page }),
        ...(isNew ? { heading } : {}),
      });
    }
    before = { page, heading };
  }
  return entries;
}

const headingCharsMax = 200;
