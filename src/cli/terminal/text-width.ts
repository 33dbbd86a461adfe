let segmenter: Intl.Segmenter | undefined;

/** Splits a text into the characters that a reader sees. The segmenter is created on demand, because that takes 20 ms. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** Matches characters that take two columns: wide East Asian ones and emoji. */
const wideCharacter =
  /^(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji}\ufe0f)/u;
const printableAscii = /^[\x20-\x7e]*$/;

/** Returns the number of terminal columns of a text without control characters. */
export function widthOf(text: string): number {
  if (printableAscii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += segmentWidth(segment);
  return width;
}

function segmentWidth(segment: string): number {
  if (wideCharacter.test(segment)) return 2;
  return /^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(segment) ? 0 : 1;
}

/** Truncates a text that is too wide, at its end or, with `keepEnd`, at its start. Adds an ellipsis. */
export function truncate(text: string, columns: number, keepEnd = false): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 2) return '…'.slice(0, columns);
  const segments = Array.from(segmentsOf(text), ({ segment }) => segment);
  if (keepEnd) segments.reverse();
  const parts: string[] = [];
  let width = 1;
  for (const segment of segments) {
    width += segmentWidth(segment);
    if (width > columns) break;
    parts.push(segment);
  }
  return keepEnd ? `…${parts.toReversed().join('')}` : `${parts.join('').trimEnd()}…`;
}

/** Wraps a text, at spaces if possible. If it needs more lines than allowed, the last one ends with an ellipsis. */
export function wrap(text: string, columns: number, linesMax: number): string[] {
  const lines: string[] = [];
  let remaining = text;
  while (lines.length < linesMax - 1 && widthOf(remaining) > columns) {
    const line = firstLine(remaining, columns);
    lines.push(line.trimEnd());
    remaining = remaining.slice(line.length).trimStart();
  }
  return [...lines, truncate(remaining, columns)];
}

function firstLine(text: string, columns: number): string {
  let start = '';
  let width = 0;
  for (const { segment } of segmentsOf(text)) {
    width += segmentWidth(segment);
    if (width > columns) break;
    start += segment;
  }
  // Takes at least one character. Otherwise wrapping would never end.
  if (start === '') return Array.from(segmentsOf(text), ({ segment }) => segment)[0] ?? text;
  const space = text[start.length] === ' ' ? start.length : start.lastIndexOf(' ');
  // A word that fills most of a line is split.
  return space > columns / 3 ? text.slice(0, space) : start;
}
