import type { ExtractedDocument } from '../documents/document.ts';
import { createPlaces } from '../documents/places.ts';
import { chunkDocument } from '../search/chunk-document.ts';
import type { NewChunk } from '../storage/documents.ts';

export type TextToChunk = Pick<ExtractedDocument, 'text' | 'kind' | 'codeLanguage' | 'marks' | 'members'>;

/** The passages of a text, each with where it stands in the original. Pages and lines count from 1. */
export function placedChunks(document: TextToChunk): NewChunk[] {
  const places = createPlaces(document);
  return chunkDocument(document).map(({ text, start, end, titlePath }) => {
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
