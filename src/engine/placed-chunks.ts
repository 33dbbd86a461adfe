import type { ExtractedDocument } from '../documents/document.ts';
import { createPlaces, type Places } from '../documents/places.ts';
import { chunkDocument } from '../search/chunk-document.ts';
import type { Chunk } from '../search/chunking.ts';
import type { NewChunk } from '../storage/documents.ts';

export type TextToChunk = Pick<ExtractedDocument, 'text' | 'kind' | 'codeLanguage' | 'marks' | 'members'> & {
  /** Written as one thing, whatever headings it has. */
  isNote?: boolean;
};

/**
 * What was given as one short piece, such as an abstract or a function, is found as one: cut in two, its halves would
 * rank for themselves and stand in the way of other documents. Five of this length fit a prompt.
 */
const wholeUnitsMax = 3_000;

/** The passages of a text, each with where it stands in the original. Pages and lines count from 1. */
export function placedChunks(document: TextToChunk): NewChunk[] {
  const places = createPlaces(document);
  const chunks = chunkDocument(document);
  const whole = wholeOf(document, chunks, places);
  return (whole === undefined ? chunks : [whole]).map(({ text, start, end, titlePath }) => {
    const { page, pageEnd, line, lineEnd = line, member } = places.of({ start, end });
    const metadata = {
      page,
      page_end: pageEnd,
      section_header: titlePath.length === 0 ? undefined : titlePath.join(' > '),
      line_start: line,
      line_end: lineEnd,
      file: member,
    };
    const known = Object.entries(metadata).filter(([, value]) => value !== undefined);
    return { text, headings: titlePath, metadata: Object.fromEntries(known) };
  });
}

/** The chunks as one, where they are short together and stand under the same headings, on one page, in one file. */
function wholeOf({ text, isNote }: TextToChunk, chunks: readonly Chunk[], places: Places): Chunk | undefined {
  const [first] = chunks;
  const last = chunks.at(-1);
  if (!first || !last || last.end - first.start > wholeUnitsMax) return undefined;
  const placeOf = ({ start, end, titlePath }: Chunk): string => {
    const { page, pageEnd, member } = places.of({ start, end });
    return JSON.stringify([isNote ? [] : titlePath, page, pageEnd, member]);
  };
  if (chunks.some((chunk) => placeOf(chunk) !== placeOf(first))) return undefined;
  const titlePath = isNote && chunks.length > 1 ? [] : first.titlePath;
  return { ...first, end: last.end, text: text.slice(first.start, last.end), titlePath };
}
