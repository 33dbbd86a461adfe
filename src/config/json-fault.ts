export interface JsonFault {
  /** Counted from 1. */
  line: number;
  column: number;
  /** The unexpected character, or the end of the file. */
  found: string;
}

/** Locates the first JSON syntax error, because JSON.parse reports a position only in some messages. */
export function locateJsonFault(text: string): JsonFault {
  const position = firstFault(text);
  const lines = text.slice(0, position).split('\n');
  const char = text[position];
  return {
    line: lines.length,
    column: (lines.at(-1)?.length ?? 0) + 1,
    found: char === undefined ? 'the end of the file' : JSON.stringify(char),
  };
}

const tokenPattern =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const spacePattern = /[ \t\r\n]*/y;

/** Returns the position of the first error. `open` is a stack of open brackets; `expect` names the next valid tokens. */
function firstFault(text: string): number {
  const open: string[] = [];
  let expect: 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' = 'value';
  let position = 0;
  for (;;) {
    spacePattern.lastIndex = position;
    position += spacePattern.exec(text)?.[0].length ?? 0;
    if (expect === 'comma or end' && open.length === 0) return position;
    tokenPattern.lastIndex = position;
    const token = tokenPattern.exec(text)?.[0];
    if (token === undefined) return position;
    const closes = (token === '}' && open.at(-1) === '{') || (token === ']' && open.at(-1) === '[');
    if (closes && expect.endsWith('or end')) {
      open.pop();
      expect = 'comma or end';
    } else if (expect.startsWith('value') && !'}],:'.includes(token)) {
      if (token === '{' || token === '[') open.push(token);
      expect = token === '{' ? 'key or end' : token === '[' ? 'value or end' : 'comma or end';
    } else if (expect.startsWith('key') && token.startsWith('"')) {
      expect = 'colon';
    } else if (expect === 'colon' && token === ':') {
      expect = 'value';
    } else if (expect === 'comma or end' && token === ',') {
      expect = open.at(-1) === '{' ? 'key' : 'value';
    } else {
      return position;
    }
    position += token.length;
  }
}
