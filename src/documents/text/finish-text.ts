import type { Mark } from '../document.ts';
import { cleanText } from './clean-text.ts';
import { withoutBase64 } from './without-base64.ts';

/**
 * Truncates a reader's text, removes hidden characters and base64, trims it, and adjusts the marks. If the text has the same
 * lines as the original, the first line keeps its indent.
 */
export function finishText(raw: string, marks: readonly Mark[], charsMax: number): { text: string; marks: Mark[] } {
  const truncated = raw.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '');
  const movedMarks: Mark[] = [];
  const cleanParts: string[] = [];
  let length = 0;
  // Cleans the text between two marks at a time: cleaning shortens it, and the marks must move along.
  for (const [index, mark] of [{ offset: 0 }, ...marks].entries()) {
    const part = cleanText(withoutBase64(truncated.slice(mark.offset, marks[index]?.offset)));
    if (index > 0 && mark.offset <= truncated.length) movedMarks.push({ ...mark, offset: length });
    cleanParts.push(part);
    length += part.length;
  }
  const clean = cleanParts.join('');
  const hasLines = marks[0]?.offset === 0 && marks[0].line !== undefined;
  const trimmedStart = hasLines ? firstTextLine(clean) : clean.length - clean.trimStart().length;
  const text = clean.slice(trimmedStart).trimEnd();
  return { text, marks: shiftMarks(movedMarks, clean, trimmedStart, text.length) };
}

/** Returns the start of the first line that is not blank. */
function firstTextLine(text: string): number {
  const first = text.length - text.trimStart().length;
  return first === text.length ? first : text.lastIndexOf('\n', first) + 1;
}

function shiftMarks(marks: readonly Mark[], text: string, trimmedStart: number, length: number): Mark[] {
  const byOffset = new Map<number, Mark>();
  for (const mark of marks) {
    const offset = Math.max(0, mark.offset - trimmedStart);
    const linesTrimmed = text.slice(mark.offset, Math.max(mark.offset, trimmedStart)).split('\n').length - 1;
    const line = mark.line === undefined ? {} : { line: mark.line + linesTrimmed };
    if (offset < length || offset === 0) byOffset.set(offset, { ...mark, ...line, offset });
  }
  return [...byOffset.values()];
}
