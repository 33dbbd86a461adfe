import type { Span } from './chunk.ts';

export interface CodeLine extends Span {
  text: string;
  /** Columns before the first character; tab stops are every four columns. */
  indent: number;
  isBlank: boolean;
  /** True if the line belongs to the next one, regardless of its indent. */
  isLeading?: boolean;
}

/** A statement or declaration, with the comments above it and its indented body. */
export interface Unit {
  lines: CodeLine[];
  /** The line that declares something: the first one after comments and annotations. */
  head: CodeLine;
  /** True if the unit only closes an earlier one. */
  isTail: boolean;
}

/** Returns the lines of a part of a text, without trailing white space. */
export function codeLines(text: string, part: Span = { start: 0, end: text.length }): CodeLine[] {
  const lines: CodeLine[] = [];
  for (let start = part.start; start < part.end; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 || newline > part.end ? part.end : newline;
    const line = text.slice(start, end).trimEnd();
    lines.push({ start, end: start + line.length, text: line, indent: indentOf(line), isBlank: line === '' });
    start = end + 1;
  }
  return lines;
}

/**
 * Groups lines into units. A unit starts at a line with the smallest indent. Comments and annotations above it, and the
 * brackets and keywords that close it, belong to it.
 */
export function unitsOf(lines: readonly CodeLine[]): Unit[] {
  const base = lines.reduce(
    (least, line) => (line.isBlank || line.isLeading ? least : Math.min(least, line.indent)),
    Infinity,
  );
  const units: Unit[] = [];
  let leading: CodeLine[] = [];
  let inComment = false;
  for (const line of lines) {
    const last = units.at(-1);
    if (line.isBlank) {
      // A comment followed by a blank line does not belong to the next declaration.
      if (leading.length > 0 && !inComment && !leading.at(-1)?.isLeading) units.push(createUnit(leading.splice(0)));
      else if (leading.length > 0) leading.push(line);
      else last?.lines.push(line);
      continue;
    }
    const isContinued = inComment || line.indent > base;
    inComment = staysInComment(line.text, inComment);
    if (line.isLeading || (!isContinued && leadingLine.test(line.text))) leading.push(line);
    else if (isContinued && leading.length > 0) leading.push(line);
    else if (last && (isContinued || closingLine.test(line.text))) {
      for (const before of leading.splice(0)) last.lines.push(before);
      last.lines.push(line);
    } else units.push(createUnit([...leading.splice(0), line]));
    // A multi-line comment belongs to the declaration after it.
    if (inComment && units.at(-1)?.lines.length === 1 && units.at(-1)?.head === line)
      leading = units.pop()?.lines ?? [];
  }
  if (leading.some(({ isBlank }) => !isBlank)) units.push(createUnit(leading));
  return units;
}

function createUnit(lines: CodeLine[]): Unit {
  const head = lines.findLast(({ isBlank }) => !isBlank) ?? lines[0];
  if (!head) throw new RangeError('a unit of code needs at least one line');
  return { lines, head, isTail: closingLine.test(head.text) };
}

/** Matches a line that closes or continues the unit before it. */
const closingLine =
  /^\s*(?:[}\])>]|(?:end|else|elif|elsif|elseif|except|catch|finally|rescue|ensure|fi|done|esac|endif|endfunction|then|do)\b|\*\/)/;

/** Matches comments, annotations and attributes, which belong to the declaration below them. */
const leadingLine =
  /^\s*(?:\/\/|#(?!include|define|if|else|endif|pragma|import)|--|;|\/\*|\*|@\w|#\[|\[[A-Z]\w*[\](]|template\s*<|"""|'''|%)/;

/** True if a multi-line comment is still open after this line. */
function staysInComment(text: string, isInside: boolean): boolean {
  if (isInside) return !text.includes('*/');
  return /^\s*\/\*/.test(text) && !text.includes('*/');
}

function indentOf(line: string): number {
  let indent = 0;
  for (const character of line) {
    if (character === ' ') indent += 1;
    else if (character === '\t') indent += 4 - (indent % 4);
    else break;
  }
  return indent;
}
