import { setImmediate as nextTick } from 'node:timers/promises';

export type FormOutcome = { ok: true; fields: URLSearchParams } | { ok: false; problem: string };

/** Max fields of a form. The console's longest form has a dozen. */
const fieldsMax = 100;
/** Max bytes to decode before other requests may run. */
const pieceBytes = 1024 * 1024;

const [ampersand, equals, percent, plus, space] = [...Buffer.from('&=%+ ')] as [number, number, number, number, number];
const [carriageReturn, lineFeed] = [0x0d, 0x0a];

/**
 * Parses an `application/x-www-form-urlencoded` body in pieces and in linear time. `URLSearchParams` would take seconds for a
 * megabyte of `&` or `+`. CR LF, which forms send for every line break, becomes LF.
 */
export async function parseForm(body: Uint8Array): Promise<FormOutcome> {
  const bounds = fieldBounds(body);
  if (bounds === undefined) return { ok: false, problem: `The form has more than ${fieldsMax} fields.` };
  const fields: [string, string][] = [];
  for (const [start, end] of bounds) {
    if (start === end) continue;
    const equalsIndex = body.subarray(start, end).indexOf(equals);
    const [nameEnd, valueStart] = equalsIndex === -1 ? [end, end] : [start + equalsIndex, start + equalsIndex + 1];
    fields.push([await decode(body.subarray(start, nameEnd)), await decode(body.subarray(valueStart, end))]);
  }
  return { ok: true, fields: new URLSearchParams(fields) };
}

/** Returns where fields start and end. Undefined if there are too many. */
function fieldBounds(body: Uint8Array): [start: number, end: number][] | undefined {
  const bounds: [number, number][] = [];
  for (let start = 0; start <= body.length; ) {
    if (bounds.length >= fieldsMax) return undefined;
    const separator = body.indexOf(ampersand, start);
    const end = separator === -1 ? body.length : separator;
    bounds.push([start, end]);
    start = end + 1;
  }
  return bounds;
}

async function decode(text: Uint8Array): Promise<string> {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let index = 0, pieceEnd = pieceBytes; index < text.length; pieceEnd += pieceBytes) {
    if (index > 0) await nextTick();
    for (; index < text.length && index < pieceEnd; index += 1) {
      let byte = text[index] as number;
      if (byte === plus) byte = space;
      else if (byte === percent) {
        const [high, low] = [hexDigit(text[index + 1]), hexDigit(text[index + 2])];
        if (high !== undefined && low !== undefined) {
          byte = high * 16 + low;
          index += 2;
        }
      }
      if (byte === lineFeed && length > 0 && bytes[length - 1] === carriageReturn) length -= 1;
      bytes[length] = byte;
      length += 1;
    }
  }
  return bytes.toString('utf8', 0, length);
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined;
}
