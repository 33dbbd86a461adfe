/** An error in the content of a client's file. The caller adds the file's name. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
  readonly line: number;
  readonly column: number;

  constructor(line: number, column: number, what: string) {
    super(what);
    this.line = line;
    this.column = column;
  }
}

/** Creates the error for an offset in the text. Lines and columns count from 1, as in editors. */
export function faultAt(text: string, offset: number, what: string): FileFault {
  const before = text.slice(0, offset);
  const lineStart = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1;
  return new FileFault(before.split(/\r\n|\r|\n/).length, offset - lineStart + 1, what);
}
