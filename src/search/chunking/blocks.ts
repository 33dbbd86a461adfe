import type { Span } from './chunk.ts';

export type Block =
  | (Span & { kind: 'prose' | 'code' | 'table' })
  | (Span & { kind: 'heading'; level: number; title: string });

/** Splits a text into headings (Markdown, setext, wiki), fenced code, pipe tables and paragraphs, in order and trimmed. */
export function* blocksOf(text: string): Generator<Block> {
  const lines = linesOf(text);
  for (let index = 0; ; ) {
    const line = lines.at(index);
    if (!line) return;
    if (line.text.trim() === '') {
      index += 1;
      continue;
    }
    const read =
      takeFence(lines, index) ?? takeHeading(lines, index) ?? takeTable(lines, index) ?? takeParagraph(lines, index);
    yield read.block;
    index = read.next;
    lines.forget(index);
  }
}

interface Line extends Span {
  text: string;
}

/** The lines of a text, found on demand: an array of all lines would take many times the memory of the text. */
interface Lines {
  at(index: number): Line | undefined;
  slice(from: number, to: number): Line[];
  /** Frees earlier lines. */
  forget(index: number): void;
}

interface ParsedBlock {
  block: Block;
  next: number;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const markdownHeading = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const wikiHeading = /^\s*(={1,6}|(?:= ){1,5}=)\s+([^=]+?)\s+\1\s*$/;
const setextUnderline = /^ {0,3}(=+|-{2,})\s*$/;
const tableRow = /^\s*\|.*\|\s*$/;

/** Reads fenced code. An unclosed fence extends to the end of the text (CommonMark 0.31 §4.5). */
function takeFence(lines: Lines, index: number): ParsedBlock | undefined {
  const marker = fence.exec(lines.at(index)?.text ?? '')?.[1];
  if (!marker) return undefined;
  let next = index + 1;
  const closes = (line: Line | undefined) => {
    const closing = fence.exec(line?.text ?? '')?.[1];
    return closing?.startsWith(marker) && line?.text.trim() === closing;
  };
  while (lines.at(next) && !closes(lines.at(next))) next += 1;
  return blockOf('code', lines, index, lines.at(next) ? next + 1 : next);
}

function takeHeading(lines: Lines, index: number): ParsedBlock | undefined {
  const line = lines.at(index);
  if (!line) return undefined;
  const marked = markdownHeading.exec(line.text) ?? wikiHeading.exec(line.text);
  if (marked) return heading(line, line, marked[1]?.replaceAll(' ', '').length ?? 1, marked[2] ?? '', index + 1);
  const underline = lines.at(index + 1);
  const mark = setextUnderline.exec(underline?.text ?? '')?.[1];
  if (!underline || !mark || /^\s{4}/.test(line.text)) return undefined;
  return heading(line, underline, mark.startsWith('=') ? 1 : 2, line.text.trim(), index + 2);
}

function heading(first: Line, last: Line, level: number, title: string, next: number): ParsedBlock {
  return { block: { kind: 'heading', level, title, ...trimmed([first, last]) }, next };
}

function takeTable(lines: Lines, index: number): ParsedBlock | undefined {
  let next = index;
  while (tableRow.test(lines.at(next)?.text ?? '')) next += 1;
  return next - index >= 2 ? blockOf('table', lines, index, next) : undefined;
}

/** Max lines of a paragraph. Longer ones are machine output; splitting them is harmless. */
const paragraphLinesMax = 5_000;

function takeParagraph(lines: Lines, index: number): ParsedBlock {
  let next = index + 1;
  while (next - index < paragraphLinesMax && (lines.at(next)?.text.trim() ?? '') !== '') {
    if (takeFence(lines, next) || takeHeading(lines, next)) break;
    next += 1;
  }
  return blockOf('prose', lines, index, next);
}

function blockOf(kind: 'prose' | 'code' | 'table', lines: Lines, index: number, next: number): ParsedBlock {
  return { block: { kind, ...trimmed(lines.slice(index, next)) }, next };
}

/** Returns the span of the lines, without white space at both ends. */
function trimmed(lines: readonly Line[]): Span {
  const [first] = lines;
  const last = lines.findLast((line) => line.text.trim() !== '') ?? first;
  const start = (first?.start ?? 0) + (first ? first.text.length - first.text.trimStart().length : 0);
  return { start, end: (last?.start ?? 0) + (last?.text.trimEnd().length ?? 0) };
}

function linesOf(text: string): Lines {
  let kept: Line[] = [];
  let forgotten = 0;
  let start = 0;
  const readTo = (index: number): void => {
    while (forgotten + kept.length <= index && start < text.length) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline;
      kept.push({ start, end, text: text.slice(start, end) });
      start = end + 1;
    }
  };
  return {
    at(index) {
      readTo(index);
      return kept[index - forgotten];
    },
    slice: (from, to) => kept.slice(from - forgotten, to - forgotten),
    forget(index) {
      if (index - forgotten < forgetAtOnce) return;
      kept = kept.slice(index - forgotten);
      forgotten = index;
    },
  };
}

const forgetAtOnce = 1_000;
