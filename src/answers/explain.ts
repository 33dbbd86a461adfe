import * as z from 'zod';

/*
 * Answers are short by default, because every token costs money. With `explain`, they also say how a result was
 * found.
 */

export const explainInput = {
  explain: z.boolean().default(false).describe('Add why, scores, hash and range.'),
};

const hashDigits = 16;

/** Returns the part of a hash that answers show. The `verify` tool accepts it. */
export function shortHash(hash: string): string {
  return hash.slice(0, hashDigits);
}

/** Copies plain data, rounding numbers to three decimals. */
export function rounded<Data>(data: Data): Data {
  if (typeof data === 'number') return (Math.round(data * 1000) / 1000) as Data;
  if (Array.isArray(data)) return data.map(rounded) as Data;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, rounded(value)])) as Data;
}
