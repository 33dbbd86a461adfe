import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateSql } from './code-estimate.ts';

/** Issue 18: the right ten behind a filter; these are the vectors that are compared. */
test('the better the score of a query with what a code stands for, the smaller the estimate', () => {
  const query = Float32Array.from({ length: 32 }, (_, place) => Math.sin(place * place + 1));
  const { values } = estimateSql(query, 'public');
  const levels = [-1.46, -0.41, 0.41, 1.46];
  const codes = Array.from({ length: 200 }, (_, number) =>
    Array.from({ length: 32 }, (_, place) => Math.floor(2 + 2 * Math.sin(number * 7.7 + place * (number + 3)))),
  );
  const rated = codes.map((code) => {
    const bits = [1, 2, 3].flatMap((level) => code.map((own) => (own >= level ? '1' : '0')));
    const apart = (row: unknown) => [...String(row)].filter((bit, place) => bit !== bits[place]).length;
    return {
      score: code.reduce((sum, level, place) => sum + (levels[level] ?? 0) * (query[place] ?? 0), 0),
      estimate: values.reduce<number>((sum, row, power) => sum + 2 ** power * apart(row), 0),
    };
  });
  const [scores, estimates] = [rated.map(({ score }) => score), rated.map(({ estimate }) => estimate)];
  assert.ok(correlation(scores, estimates) < -0.99, `${correlation(scores, estimates)}`);
});

function correlation(one: readonly number[], other: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, number) => sum + number, 0) / list.length;
  const [a, b] = [mean(one), mean(other)];
  const product = (x: readonly number[], p: number, y: readonly number[], q: number) =>
    mean(x.map((number, at) => (number - p) * ((y[at] ?? 0) - q)));
  return product(one, a, other, b) / Math.sqrt(product(one, a, one, a) * product(other, b, other, b));
}
