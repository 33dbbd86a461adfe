import * as z from 'zod';

/*
 * Answers are lean: a model pays for each token, and most never look at how a result was found. `explain` adds the rest.
 */

export const explainInput = {
  explain: z.boolean().default(false).describe('Add why, scores, hash and range.'),
};

const hashDigits = 16;

/** The first digits of a hash, as answers show it; `verify` takes them. */
export function shortHash(hash: string): string {
  return hash.slice(0, hashDigits);
}

/** A copy of plain data in which numbers have at most three digits behind the point. */
export function rounded<Data>(data: Data): Data {
  if (typeof data === 'number') return (Math.round(data * 1000) / 1000) as Data;
  if (Array.isArray(data)) return data.map(rounded) as Data;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, rounded(value)])) as Data;
}
