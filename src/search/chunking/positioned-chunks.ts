import type { ExtractedDocument, Mark } from '../../documents/document.ts';
import { createPositions, type DocumentPositions } from '../../documents/document-positions.ts';
import type { NewChunk } from '../../storage/documents/write-chunks.ts';
import type { Chunk } from './chunk.ts';
import { chunkDocument } from './chunk-document.ts';

export type TextToChunk = Pick<ExtractedDocument, 'text' | 'kind' | 'codeLanguage' | 'marks' | 'members'> & {
  /** True for a note. A short note is one chunk, even if it has headings. */
  isNote?: boolean;
};

/** Max length of a document that stays one chunk. As several chunks, it would fill the results. */
const singleUnitsMax = 3_000;

/** Chunks a text and adds page and line numbers, from 1. No chunk spans two pages, so a citation can name its page. */
export function positionedChunks(document: TextToChunk): NewChunk[] {
  const positions = createPositions(document);
  const pageEnds = pageEndsOf(document.marks);
  const chunks = chunkDocument(document).flatMap((chunk) => splitAt(pageEnds, chunk));
  const single = joined(document, chunks, positions);
  return (single === undefined ? chunks : [single]).map(({ text, start, end, titlePath }) => {
    const { page, line, lineEnd = line, member } = positions.of({ start, end });
    const metadata = {
      page,
      section_header: titlePath.length === 0 ? undefined : titlePath.join(' > '),
      line_start: line,
      line_end: lineEnd,
      file: member,
    };
    const defined = Object.entries(metadata).filter(([, value]) => value !== undefined);
    return { text, headings: titlePath, metadata: Object.fromEntries(defined) };
  });
}

function pageEndsOf(marks: readonly Mark[]): number[] {
  return marks.flatMap(({ offset, page }, index) => (index > 0 && page !== marks[index - 1]?.page ? [offset] : []));
}

/** Splits a chunk at the given offsets and trims the parts. */
function splitAt(offsets: readonly number[], chunk: Chunk): Chunk[] {
  const inside = offsets.filter((offset) => offset > chunk.start && offset < chunk.end);
  if (inside.length === 0) return [chunk];
  return [...inside, chunk.end].flatMap((end, index) => {
    const start = inside[index - 1] ?? chunk.start;
    const part = chunk.text.slice(start - chunk.start, end - chunk.start);
    const text = part.trim();
    const from = start + part.indexOf(text);
    return text === '' ? [] : [{ ...chunk, start: from, end: from + text.length, text }];
  });
}

/** Joins all chunks into one if the document is short and they share headings, page and file. */
function joined(
  { text, isNote }: TextToChunk,
  chunks: readonly Chunk[],
  positions: DocumentPositions,
): Chunk | undefined {
  const [first] = chunks;
  const last = chunks.at(-1);
  if (!first || !last || last.end - first.start > singleUnitsMax) return undefined;
  const positionOf = ({ start, titlePath }: Chunk): string => {
    const { page, member } = positions.at(start);
    return JSON.stringify([isNote ? [] : titlePath, page, member]);
  };
  if (chunks.some((chunk) => positionOf(chunk) !== positionOf(first))) return undefined;
  const titlePath = isNote && chunks.length > 1 ? [] : first.titlePath;
  return { ...first, end: last.end, text: text.slice(first.start, last.end), titlePath };
}
