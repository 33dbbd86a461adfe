let segmenter: Intl.Segmenter | undefined;

/** Splits a text into the characters that a reader sees. The segmenter takes 20 ms to create, so it is created on demand. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** Matches characters that take two columns: wide East Asian ones and emoji. */
const wide =
  /^(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji}\ufe0f)/u;
const plain = /^[\x20-\x7e]*$/;

/** Returns the number of terminal columns of a text without control characters. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += segmentWidth(segment);
  return width;
}

function segmentWidth(segment: string): number {
  if (wide.test(segment)) return 2;
  return /^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(segment) ? 0 : 1;
}

/** Truncates a text that is too wide, at its end or at its start, and adds an ellipsis. */
export function fit(text: string, columns: number, keeps: 'start' | 'end' = 'start'): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 2) return '…'.slice(0, columns);
  const segments = Array.from(segmentsOf(text), ({ segment }) => segment);
  if (keeps === 'end') segments.reverse();
  const parts: string[] = [];
  let width = 1;
  for (const segment of segments) {
    width += segmentWidth(segment);
    if (width > columns) break;
    parts.push(segment);
  }
  return keeps === 'end' ? `…${parts.toReversed().join('')}` : `${parts.join('').trimEnd()}…`;
}

/** Wraps a text, at spaces if possible. If it needs more lines than allowed, the last one ends with an ellipsis. */
export function wrap(text: string, columns: number, linesMax: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < linesMax - 1 && widthOf(rest) > columns) {
    const line = head(rest, columns);
    lines.push(line.trimEnd());
    rest = rest.slice(line.length).trimStart();
  }
  return [...lines, fit(rest, columns)];
}

function head(text: string, columns: number): string {
  let start = '';
  let width = 0;
  for (const { segment } of segmentsOf(text)) {
    width += segmentWidth(segment);
    if (width > columns) break;
    start += segment;
  }
  // Takes at least one character, because otherwise wrapping would never end.
  if (start === '') return Array.from(segmentsOf(text), ({ segment }) => segment)[0] ?? text;
  const space = text[start.length] === ' ' ? start.length : start.lastIndexOf(' ');
  // A word that fills most of a line is split.
  return space > columns / 3 ? text.slice(0, space) : start;
}
