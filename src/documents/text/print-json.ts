/** Max depth of indents. Without it, a million nested brackets would become a million spaces per line. */
const indentMax = 32;

/** Formats JSON token by token. Keeps numbers and duplicate keys as written, at any depth. Null if the text is not JSON. */
export function printJson(json: string, charsMax: number): { text: string; truncated: boolean } | null {
  const openBrackets: string[] = [];
  const parts: string[] = [];
  let length = 0;
  let isAfterOpening = false;
  let at = skipSpace(json, 0);
  while (at < json.length) {
    const end = endOfToken(json, at);
    if (end === -1) return null;
    const token = json.slice(at, end);
    const isClosing = token === ']' || token === '}';
    if (isClosing && openBrackets.pop() !== (token === ']' ? '[' : '{')) return null;
    const lineBreak = isClosing !== isAfterOpening ? newline(openBrackets.length) : '';
    let part = lineBreak + token;
    if (token === ',') part += newline(openBrackets.length);
    else if (token === ':') part += ' ';
    isAfterOpening = token === '[' || token === '{';
    if (isAfterOpening) openBrackets.push(token);
    parts.push(part);
    length += part.length;
    if (length > charsMax) return { text: parts.join(''), truncated: true };
    at = skipSpace(json, end);
  }
  return openBrackets.length > 0 || parts.length === 0 ? null : { text: parts.join(''), truncated: false };
}

function newline(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, indentMax))}`;
}

const space = /[ \t\r\n]*/y;
const literal = /(?:-?\d[\d.eE+-]{0,400}|true|false|null)(?=[\s,\]}]|$)/y;

function skipSpace(json: string, from: number): number {
  space.lastIndex = from;
  space.exec(json);
  return space.lastIndex;
}

/** Returns the end of the token at `from`; -1 if it is invalid. Uses no regex for strings: one may be as long as the document. */
function endOfToken(json: string, from: number): number {
  const first = json[from] ?? '';
  if ('[]{},:'.includes(first)) return from + 1;
  if (first !== '"') {
    literal.lastIndex = from;
    return literal.test(json) ? literal.lastIndex : -1;
  }
  let quote = json.indexOf('"', from + 1);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote === -1 ? -1 : quote + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
