import { parseJson } from './json.ts';

export interface JsonBounds {
  /** Max nesting of arrays and objects, because later code recurses. */
  readonly depthMax: number;
  /** Max array elements and object members in total, because validation takes time for each. */
  readonly elementsMax: number;
}

/** Max bytes of a service's answer: parsing more would block the event loop. */
export const serviceAnswerBytesMax = 16 * 1024 * 1024;

/** Bounds for answers from other services. */
export const serviceBounds: JsonBounds = { depthMax: 128, elementsMax: 100_000 };

/** Parses JSON from outside. Returns undefined if it is invalid or exceeds the bounds. */
export function parseBoundedJson(text: string, bounds: JsonBounds = serviceBounds): unknown {
  return exceededBound(text, bounds) === undefined ? parseJson(text) : undefined;
}

/** Returns which bound the JSON exceeds, if any. Scans the text once and skips strings. */
export function exceededBound(text: string, { depthMax, elementsMax }: JsonBounds): 'depth' | 'elements' | undefined {
  let depth = 0;
  let elements = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === quote) {
      index = endOfString(text, index);
    } else if (char === openBracket || char === openBrace) {
      depth += 1;
      elements += 1;
      if (depth > depthMax) return 'depth';
    } else if (char === closeBracket || char === closeBrace) {
      depth -= 1;
    } else if (char === comma) {
      elements += 1;
    }
    if (elements > elementsMax) return 'elements';
  }
  return undefined;
}

/** Returns the index of the quote that ends the string at `start`; the text's length if the string is unterminated. */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

export const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
