import type { ExtractedDocument, Mark } from './document.ts';

/** The position in the original document, as far as known. */
export interface DocumentPosition {
  page?: number;
  /** Line of the original, from 1. Only for kinds whose text keeps the lines: plain text, Markdown, CSV, code. */
  line?: number;
  /** Name of the file inside the archive or email. */
  member?: string;
}

export interface PositionRange extends DocumentPosition {
  /** Last page and line of the range, if they differ from the first. */
  pageEnd?: number;
  lineEnd?: number;
}

export type DocumentPositions = ReturnType<typeof createPositions>;

type PositionSource = Pick<ExtractedDocument, 'text' | 'marks' | 'members'>;

/** Creates the lookup of pages and lines by offset, in UTF-16 units of `text`. */
export function createPositions({ text, marks, members = [] }: PositionSource) {
  const starts = members.map(({ start }) => start);
  const offsets = marks.map(({ offset }) => offset);
  let newlines: number[] | undefined;

  return {
    at,
    /** Returns the position of a range. `end` is exclusive. */
    of({ start, end }: { start: number; end: number }): PositionRange {
      const first = at(start);
      const last = at(Math.max(start, end - 1));
      return {
        ...first,
        ...(last.page === undefined || last.page === first.page ? {} : { pageEnd: last.page }),
        ...(last.line === undefined || last.line === first.line ? {} : { lineEnd: last.line }),
      };
    },
  };

  function at(offset: number): DocumentPosition {
    const mark = marks[countUpTo(offsets, offset) - 1];
    const member = members[countUpTo(starts, offset) - 1];
    return {
      ...(mark?.page === undefined ? {} : { page: mark.page }),
      ...(mark?.line === undefined ? {} : { line: lineOf(mark.line, mark, offset) }),
      ...(member && offset < member.end ? { member: member.name } : {}),
    };
  }

  function lineOf(first: number, mark: Mark, offset: number): number {
    newlines ??= newlinesOf(text);
    // A newline belongs to the line that it ends, hence the `- 1`.
    return first + countUpTo(newlines, offset - 1) - countUpTo(newlines, mark.offset - 1);
  }
}

function newlinesOf(text: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) offsets.push(at);
  return offsets;
}

/** Returns how many of the ascending numbers are at most `value`. */
function countUpTo(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
