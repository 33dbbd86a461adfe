import type { Condition } from '../rows.ts';

/**
 * What the code of a vector tells of its score with a query that is not rounded, as a distance: twice as sure as the number of bits
 * in which the codes of the two differ, and four times as dear. So it is for those that are nearest by that.
 *
 * The score is the sum of the bits of the code, each with a weight, which is the query's number of that place. Weights
 * are rounded to 4 bits. The bits of the weights that stand for the same power of two are a row of bits as long as the code, and
 * in how many bits that differs from the code tells its part of the sum.
 */
export function estimateSql(query: Float32Array, extension: string): Condition {
  const rows = weightBits(query);
  const parts = rows.map(
    (row, power) => `${2 ** power} * (o.code OPERATOR(${extension}.<~>) (SELECT ?::bit(${row.length})))`,
  );
  return { sql: `(${parts.join(' + ')})`, values: rows };
}

const bits = 4;

/** Of the weights, in parts of the usual size of the query's numbers. */
const step = 0.33;

/** Between which levels a bit of the code decides: the outer ones are farther apart than the two in the middle. */
const spans = [1.05, 0.82, 1.05];

function weightBits(query: Float32Array): string[] {
  const size = Math.sqrt(query.reduce((sum, number) => sum + number * number, 0) / query.length) || 1;
  const half = 2 ** (bits - 1);
  const weights = spans.flatMap((span) =>
    Array.from(query, (number) => {
      const weight = Math.floor((number * span) / (size * step));
      return Math.max(-half, Math.min(half - 1, weight)) + half;
    }),
  );
  return Array.from({ length: bits }, (_, power) => weights.map((weight) => (weight >> power) & 1).join(''));
}
