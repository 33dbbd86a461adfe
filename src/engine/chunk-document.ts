import { chunkText } from '../search/chunking.ts';
import type { NewChunk } from '../storage/documents.ts';

/** From `offset` on, up to the next mark, the text is of this page, or is the original line by line. */
export interface PlaceMark {
  readonly offset: number;
  readonly page?: number;
  readonly line?: number;
}

/** A file of an archive, or an attachment: its part of the text. */
export interface PlaceMember {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface TextToChunk {
  readonly text: string;
  readonly marks: readonly PlaceMark[];
  readonly members: readonly PlaceMember[];
}

/** The passages of a text, each with where it stands in the original. Pages and lines count from 1. */
export function chunkDocument({ text, marks, members }: TextToChunk): NewChunk[] {
  const markAt = createMarkReader(marks);
  const lineAt = createLineReader(text);
  let memberIndex = 0;
  return chunkText(text).map(({ text: body, start, end, titlePath }) => {
    while ((members[memberIndex]?.end ?? Number.POSITIVE_INFINITY) <= start) memberIndex += 1;
    const member = members[memberIndex];
    const mark = markAt(start);
    const metadata = {
      ...(mark?.page === undefined ? {} : { page: mark.page }),
      ...(titlePath.length === 0 ? {} : { section_header: titlePath.join(' > ') }),
      ...(mark?.line === undefined ? {} : { line_start: lineAt(mark, start), line_end: lineAt(mark, end) }),
      ...(member === undefined || member.start > start ? {} : { file: member.name }),
    };
    return { text: body, headings: titlePath, metadata };
  });
}

/** Offsets must be asked for in ascending order, here and below: a long text is gone through once. */
function createMarkReader(marks: readonly PlaceMark[]): (offset: number) => PlaceMark | undefined {
  let index = -1;
  return (offset) => {
    while ((marks[index + 1]?.offset ?? Number.POSITIVE_INFINITY) <= offset) index += 1;
    return marks[index];
  };
}

function createLineReader(text: string): (mark: PlaceMark, offset: number) => number {
  let current: PlaceMark | undefined;
  let at = 0;
  let line = 1;
  return (mark, offset) => {
    if (mark !== current) {
      current = mark;
      at = mark.offset;
      line = mark.line ?? 1;
    }
    for (let next = text.indexOf('\n', at); next !== -1 && next < offset; next = text.indexOf('\n', at)) {
      line += 1;
      at = next + 1;
    }
    return line;
  };
}
