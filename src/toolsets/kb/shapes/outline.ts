import { estimateTokens } from '../../../answers/token-estimate.ts';
import type { EngineChunk } from '../../../engine/engine.ts';

/** The start of a page or section. */
interface OutlineEntry {
  chunk_index: number;
  page?: number;
  heading?: string;
}

export type ChunkLocation = Pick<EngineChunk, 'chunk_index' | 'chunk_metadata'>;

/** Max levels of headings in an outline. */
const depthMax = 4;
/** Min headings that are useful for a long document. */
const headingsMin = 8;
const headingCharsMax = 200;

/**
 * Returns a document's pages and headings, within a budget of tokens. If there are too many, omits the pages, then the lower
 * levels of headings, then every second entry, repeatedly. Empty if the document has neither.
 */
export function outlineOf(chunks: readonly ChunkLocation[], budget: number): OutlineEntry[] {
  let entries = entriesOf(chunks, depthMax, true);
  for (let depth = depthMax; depth > 0 && !isAffordable(entries, budget); depth -= 1) {
    const fewer = entriesOf(chunks, depth, false);
    // Too few headings for a long document: keep the previous entries, which are thinned out below.
    if (fewer.length < headingsMin) break;
    entries = fewer;
  }
  while (!isAffordable(entries, budget)) entries = entries.filter((_, index) => index % 2 === 0);
  return entries;
}

function isAffordable(entries: readonly OutlineEntry[], budget: number): boolean {
  return entries.length <= 1 || estimateTokens(JSON.stringify(entries)) <= budget;
}

function entriesOf(chunks: readonly ChunkLocation[], depth: number, includePages: boolean): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  let previous: { page?: number | undefined; heading?: string | undefined } = {};
  for (const { chunk_index, chunk_metadata: metadata } of chunks) {
    // Checked, because another engine may send any type here.
    const page = typeof metadata.page === 'number' ? metadata.page : undefined;
    const path = typeof metadata.section_header === 'string' ? metadata.section_header : undefined;
    const heading = path?.split(' > ', depth).join(' > ').slice(0, headingCharsMax);
    const isNew = heading !== undefined && heading !== previous.heading;
    if (isNew || (includePages && page !== undefined && page !== previous.page)) {
      entries.push({
        chunk_index,
        ...(page === undefined ? {} : { page }),
        ...(isNew ? { heading } : {}),
      });
    }
    previous = { page, heading };
  }
  return entries;
}
