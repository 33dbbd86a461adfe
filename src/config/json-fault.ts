export interface JsonFault {
  /** Counted from 1. */
  line: number;
  column: number;
  /** The unexpected character, or the end of the file. */
  found: string;
}

/**
 * Locates the first JSON syntax error. JSON.parse reports a position only in some messages, and the author of a file always
 * needs it.
 */
export function locateJsonFault(text: string): JsonFault {
  const position = firstFault(text);
  const before = text.slice(0, position).split('\n');
  const char = text[position];
  return {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    found: char === undefined ? 'the end of the file' : JSON.stringify(char),
  };
}

const token =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\r\n]*/y;

/** Returns the position of the first error. `open` is a stack of the open brackets, `expect` is what may come next. */
function firstFault(text: string): number {
  const open: string[] = [];
  let expect: 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' = 'value';
  let position = 0;
  for (;;) {
    space.lastIndex = position;
    position += space.exec(text)?.[0].length ?? 0;
    if (expect === 'comma or end' && open.length === 0) return position;
    token.lastIndex = position;
    const found = token.exec(text)?.[0];
    if (found === undefined) return position;
    const closes = (found === '}' && open.at(-1) === '{') || (found === ']' && open.at(-1) === '[');
    if (closes && expect.endsWith('or end')) {
      open.pop();
      expect = 'comma or end';
    } else if (expect.startsWith('value') && !'}],:'.includes(found)) {
      if (found === '{' || found === '[') open.push(found);
      expect = found === '{' ? 'key or end' : found === '[' ? 'value or end' : 'comma or end';
    } else if (expect.startsWith('key') && found.startsWith('"')) {
      expect = 'colon';
    } else if (expect === 'colon' && found === ':') {
      expect = 'value';
    } else if (expect === 'comma or end' && found === ',') {
      expect = open.at(-1) === '{' ? 'key' : 'value';
    } else {
      return position;
    }
    position += found.length;
  }
}
