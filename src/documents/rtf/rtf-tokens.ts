/** A piece of RTF (specification 1.9.1). `byte` is a character in its font's code page. */
export type RtfToken =
  | { type: 'open' }
  | { type: 'close' }
  | { type: 'word'; name: string; value: number | null }
  | { type: 'symbol'; name: string }
  | { type: 'byte'; byte: number }
  | { type: 'text'; text: string };

const controlWord = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y;
const plainText = /[^\\{}\r\n\x80-\xff]+/y;

/** Splits RTF into tokens. `rtf` has one character per byte. Never throws: invalid or truncated input becomes text. */
export function* rtfTokens(rtf: string): Generator<RtfToken, void> {
  for (let at = 0; at < rtf.length; ) {
    const first = rtf.charAt(at);
    if (first === '{' || first === '}') {
      yield { type: first === '{' ? 'open' : 'close' };
      at += 1;
    } else if (first === '\r' || first === '\n') at += 1;
    else if (first === '\\') {
      const { token, next } = readControl(rtf, at + 1);
      if (token) yield token;
      at = next;
    } else if (first > '\x7f') {
      yield { type: 'byte', byte: rtf.charCodeAt(at) };
      at += 1;
    } else {
      plainText.lastIndex = at;
      plainText.test(rtf);
      yield { type: 'text', text: rtf.slice(at, plainText.lastIndex) };
      at = plainText.lastIndex;
    }
  }
}

function readControl(rtf: string, at: number): { token: RtfToken | null; next: number } {
  controlWord.lastIndex = at;
  const match = controlWord.exec(rtf);
  if (match) {
    const [matched, name = '', digits] = match;
    const value = digits === undefined ? null : Number(digits);
    const next = at + matched.length;
    // Skips the raw bytes that follow: braces in them are not groups.
    if (name === 'bin') return { token: null, next: next + Math.max(0, value ?? 0) };
    return { token: { type: 'word', name, value }, next };
  }
  if (rtf.charAt(at) === "'") {
    const byte = Number.parseInt(rtf.slice(at + 1, at + 3), 16);
    return { token: Number.isNaN(byte) ? null : { type: 'byte', byte }, next: at + 3 };
  }
  return { token: { type: 'symbol', name: rtf.charAt(at) }, next: at + 1 };
}
