/** How often a message contains a value: once as JSON (1), or also as JSON inside a string (2). */
export type Copies = 1 | 2;

/**
 * Counts the bytes of a value as JSON in UTF-8. Two copies include the same JSON as a string inside JSON. The JSON as a whole is
 * never built, and counting stops above `bytesMax`, so that an oversized value costs little.
 */
export function wireBytes(value: unknown, copies: Copies, bytesMax = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const pending: unknown[] = [value];
  for (let item = pending.pop(); bytes <= bytesMax; item = pending.pop()) {
    if (typeof item === 'string') bytes += textBytes(item, copies, bytesMax - bytes);
    else if (typeof item === 'number' || typeof item === 'bigint')
      bytes += copies * Math.max(nullBytes, String(item).length);
    else if (typeof item !== 'object' || item === null) bytes += copies * literalBytes;
    else if (Array.isArray(item)) {
      bytes += copies * (2 + item.length);
      for (const member of item) pending.push(member);
    } else {
      bytes += copies * 2;
      for (const [key, member] of Object.entries(item)) {
        if (member === undefined) continue;
        bytes += textBytes(key, copies, bytesMax - bytes) + copies * 2;
        pending.push(member);
      }
    }
    if (pending.length === 0) break;
  }
  return bytes;
}

/** Bytes of the longest literal, `false`. */
const literalBytes = 5;
/** JSON writes NaN and Infinity as `null`. */
const nullBytes = 4;

/** Returns the first items that fit into a list of `bytesMax` bytes, but at least `atLeast` of them. */
export function firstFitting<Item>(
  items: readonly Item[],
  copies: Copies,
  bytesMax: number,
  atLeast = 1,
): readonly Item[] {
  let bytes = 0;
  const cutoff = items.findIndex((item, index) => {
    bytes += wireBytes(item, copies, bytesMax) + copies;
    return bytes > bytesMax && index >= atLeast;
  });
  return cutoff === -1 ? items : items.slice(0, cutoff);
}

/** Returns how many UTF-16 units after `start` fit into `bytesMax`. Never splits a character. */
export function fittingUnits(text: string, copies: Copies, bytesMax: number, start = 0): number {
  let bytes = quoteBytes(copies);
  let index = start;
  while (index < text.length) {
    const isPair = pairAt(text, index);
    bytes += isPair ? 4 * copies : unitBytes(text.charCodeAt(index), copies);
    if (bytes > bytesMax) break;
    index += isPair ? 2 : 1;
  }
  return index - start;
}

/** Min UTF-16 units of a text for which building the JSON is faster than counting. */
const longUnits = 256;

function textBytes(text: string, copies: Copies, bytesMax: number): number {
  if (text.length > bytesMax) return bytesMax + 1;
  if (text.length >= longUnits) {
    const json = JSON.stringify(text);
    const bytes = Buffer.byteLength(json);
    return copies === 1 ? bytes : bytes + Buffer.byteLength(JSON.stringify(json)) - 2;
  }
  let bytes = quoteBytes(copies);
  for (let index = 0; index < text.length && bytes <= bytesMax; index += 1) {
    if (pairAt(text, index)) {
      bytes += 4 * copies;
      index += 1;
    } else {
      bytes += unitBytes(text.charCodeAt(index), copies);
    }
  }
  return bytes;
}

/** Returns the bytes of the two quotes around a text. The second copy escapes them. */
function quoteBytes(copies: Copies): number {
  return copies === 1 ? 2 : 6;
}

function unitBytes(unit: number, copies: Copies): number {
  if (unit === 0x22 || unit === 0x5c) return copies === 1 ? 2 : 6;
  if (unit >= 0x20 && unit < 0x80) return copies;
  // Short escapes such as \n; the second copy escapes the backslash.
  if (unit === 0x0a || unit === 0x09 || unit === 0x0d || unit === 0x08 || unit === 0x0c) return copies === 1 ? 2 : 5;
  if (unit < 0x20) return copies === 1 ? 6 : 13;
  if (unit < 0x800) return 2 * copies;
  // A lone surrogate is written as an escape.
  if (unit >= 0xd800 && unit <= 0xdfff) return copies === 1 ? 6 : 13;
  return 3 * copies;
}

function pairAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}
