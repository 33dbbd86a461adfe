/** An error in the content of a client's file. The caller adds the file's name. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
  readonly line: number;
  readonly column: number;

  constructor(line: number, column: number, problem: string) {
    super(problem);
    this.line = line;
    this.column = column;
  }
}

/** Creates the error for an offset in the text. Lines and columns count from 1, as in editors. */
export function faultAt(text: string, offset: number, problem: string): FileFault {
  const before = text.slice(0, offset);
  return new FileFault(before.split(/\r\n|\r|\n/).length, offset - lineStart(text, offset) + 1, problem);
}

export interface Layout {
  readonly eol: string;
  /** One level of indentation. */
  readonly unit: string;
}

/** Detects the layout from the first line break and the first indented line. */
export function layoutOf(text: string): Layout {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  return { eol, unit: /^(\t| {1,8})["[{]/m.exec(text)?.[1] ?? '  ' };
}

export type Range = readonly [start: number, end: number];

export function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

/** Returns the offset of the next line break or of the end. */
export function lineEnd(text: string, offset: number): number {
  const found = /[\r\n]/.exec(text.slice(offset));
  return found === null ? text.length : offset + found.index;
}

/** Returns the length of the line break at an offset; 0 at the end of the text. */
export function lineBreakLength(text: string, offset: number): number {
  return /^(\r\n|\r|\n)/.exec(text.slice(offset))?.[0].length ?? 0;
}
