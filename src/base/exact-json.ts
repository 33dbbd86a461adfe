/** Reads and writes JSON without rounding integers. Integers beyond 2^53 become bigints, which can be passed between threads. */

declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/** True if JSON may contain an integer beyond 2^53. Long digit runs in strings count too. */
export function mayHaveLong(json: string): boolean {
  return /\d{16}/.test(json);
}

/** Max digits of an integer that is kept exact. No double has more. */
const digitsMax = 309;

/** Parses like JSON.parse, but integers beyond 2^53 become bigints. */
export function parseExact(text: string): unknown {
  return mayHaveLong(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) && source.length <= digitsMax + 1 ? BigInt(source) : value;
}

// Lets JSON.stringify write bigints. Applies to the current thread only, so every file that handles bigints imports this one.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  writable: true,
  value(this: bigint) {
    return JSON.rawJSON(this.toString());
  },
});

/** True for an integer beyond 2^53, as a bigint or as a double that may have been rounded. */
export function isLong(value: unknown): value is number | bigint {
  return (
    typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
  );
}

/** Compares two numbers exactly, even a bigint and a double. Negative if the first is less, positive if it is greater. */
export function compareNumbers(first: number | bigint, second: number | bigint): number {
  if (first < second) return -1;
  return first > second ? 1 : 0;
}
