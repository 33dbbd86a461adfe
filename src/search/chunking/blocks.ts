import { headingText } from '../../documents/text/markdown-title.ts';
import type { Span } from './chunk.ts';

export type Block =
  | (Span & { kind: 'prose' | 'code' | 'table' })
  | (Span & { kind: 'heading'; level: number; title: string });

/** Splits a text into headings (Markdown, setext, wiki), fenced code, pipe tables and paragraphs, in order and trimmed. */
export function* blocksOf(text: string): Generator<Block> {
  for (let line = lineAt(text, 0); line; ) {
    if (line.text.trim() === '') {
      line = lineAfter(text, line);
      continue;
    }
    const { block, last }: ParsedBlock =
      readFence(text, line) ?? readHeading(text, line) ?? readTable(text, line) ?? readParagraph(text, line);
    yield block;
    line = lineAfter(text, last);
  }
}

interface Line extends Span {
  text: string;
}

interface ParsedBlock {
  block: Block;
  last: Line;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const markdownHeading = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const wikiHeading = /^\s*(={1,6}|(?:= ){1,5}=)\s+([^=]+?)\s+\1\s*$/;
const setextUnderline = /^ {0,3}(=+|-{2,})\s*$/;
const tableRow = /^\s*\|.*\|\s*$/;

/** Reads fenced code. An unclosed fence extends to the end of the text (CommonMark 0.31 §4.5). */
function readFence(text: string, first: Line): ParsedBlock | undefined {
  const marker = fence.exec(first.text)?.[1];
  if (!marker) return undefined;
  let last = first;
  for (let line = lineAfter(text, first); line; line = lineAfter(text, line)) {
    last = line;
    const closing = fence.exec(line.text)?.[1];
    if (closing?.startsWith(marker) && line.text.trim() === closing) break;
  }
  return { block: { kind: 'code', ...trimmed(text, first, last) }, last };
}

function readHeading(text: string, line: Line): ParsedBlock | undefined {
  const marked = markdownHeading.exec(line.text) ?? wikiHeading.exec(line.text);
  if (marked) return heading(text, line, line, marked[1]?.replaceAll(' ', '').length ?? 1, marked[2] ?? '');
  const underline = lineAfter(text, line);
  const mark = setextUnderline.exec(underline?.text ?? '')?.[1];
  if (!underline || !mark || /^\s{4}/.test(line.text)) return undefined;
  return heading(text, line, underline, mark.startsWith('=') ? 1 : 2, line.text.trim());
}

function heading(text: string, first: Line, last: Line, level: number, title: string): ParsedBlock {
  return { block: { kind: 'heading', level, title: headingText(title), ...trimmed(text, first, last) }, last };
}

function readTable(text: string, first: Line): ParsedBlock | undefined {
  let last: Line | undefined;
  for (let line: Line | undefined = first; line && tableRow.test(line.text); line = lineAfter(text, line)) last = line;
  if (last === undefined || last === first) return undefined;
  return { block: { kind: 'table', ...trimmed(text, first, last) }, last };
}

/** Max lines of a paragraph. Longer ones are machine output; splitting them is harmless. */
const paragraphLinesMax = 5_000;

function readParagraph(text: string, first: Line): ParsedBlock {
  let last = first;
  for (let count = 1; count < paragraphLinesMax; count += 1) {
    const line = lineAfter(text, last);
    if (!line || line.text.trim() === '' || fence.test(line.text) || readHeading(text, line)) break;
    last = line;
  }
  return { block: { kind: 'prose', ...trimmed(text, first, last) }, last };
}

/** Returns the span of these lines and all between them, without white space at both ends. */
function trimmed(text: string, first: Line, last: Line): Span {
  const lines = text.slice(first.start, last.end);
  return {
    start: first.start + lines.length - lines.trimStart().length,
    end: first.start + lines.trimEnd().length,
  };
}

function lineAfter(text: string, line: Line): Line | undefined {
  return lineAt(text, line.end + 1);
}

function lineAt(text: string, start: number): Line | undefined {
  if (start >= text.length) return undefined;
  const newline = text.indexOf('\n', start);
  const end = newline === -1 ? text.length : newline;
  return { start, end, text: text.slice(start, end) };
}
