/*
 * JSON whose integers keep all their digits. A double holds every integer up to 2^53; a larger one is a bigint here, which
 * threads can pass on, and whoever handles it without knowing of it fails instead of changing it.
 */

declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/** Whether JSON may have an integer that a double cannot hold: texts may have as many digits, too. */
export function mayHaveLong(json: string): boolean {
  return /\d{16}/.test(json);
}

/** More digits than any double has in front of its point. */
const digitsMax = 309;

/** As JSON.parse, except that integers that a double cannot hold are bigints. Throws its SyntaxError. */
export function parseExact(text: string): unknown {
  return mayHaveLong(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) && source.length <= digitsMax + 1 ? BigInt(source) : value;
}

// Without it, JSON.stringify refuses bigints. In each thread: all that handle them import this file.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  writable: true,
  value(this: bigint) {
    return JSON.rawJSON(this.toString());
  },
});

/** What a double cannot hold as it is given: an integer beyond 2^53. A whole number that came as a double is one, too. */
export function isLong(value: unknown): value is number | bigint {
  return (
    typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
  );
}

/** Below 0 if the first is less, above 0 if it is greater. Exact, also between a bigint and a double. */
export function compareNumbers(first: number | bigint, second: number | bigint): number {
  if (first < second) return -1;
  return first > second ? 1 : 0;
}
