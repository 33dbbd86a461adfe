import type { LogisticWeights } from '../../src/search/rank/relevance.ts';

export interface Sample {
  /** One value per feature, in the order of the weights. */
  readonly values: readonly number[];
  readonly isRelevant: boolean;
  readonly weight: number;
}

/** L2 penalty that keeps the weights finite if the classes are separable. */
const ridge = 1e-7;
const steps = 50;

/** Fits a logistic regression by Newton's method. */
export function fitLogistic(samples: readonly Sample[]): LogisticWeights {
  const size = 1 + (samples[0]?.values.length ?? 0);
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const beta = new Array<number>(size).fill(0);
  for (let step = 0; step < steps; step++) {
    const gradient: number[] = beta.map((value, index) => (index === 0 ? 0 : -ridge * value));
    const hessian: number[][] = beta.map((_, row) => beta.map((__, column) => (row === column ? ridge : 0)));
    for (const { values, isRelevant, weight } of samples) {
      const inputs = [1, ...values];
      const probability = sigmoid(dot(beta, inputs));
      const share = weight / total;
      inputs.forEach((input, row) => {
        gradient[row] = (gradient[row] ?? 0) + share * ((isRelevant ? 1 : 0) - probability) * input;
        const hessianRow = hessian[row] ?? [];
        inputs.forEach((other, column) => {
          hessianRow[column] = (hessianRow[column] ?? 0) + share * probability * (1 - probability) * input * other;
        });
      });
    }
    const delta = solve(hessian, gradient);
    delta.forEach((value, index) => {
      beta[index] = (beta[index] ?? 0) + value;
    });
    if (Math.max(...delta.map(Math.abs)) < 1e-8) break;
  }
  const [intercept = 0, ...weights] = beta;
  return { intercept, weights };
}

/** Solves a small linear system by Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, vector[index] ?? 0]);
  for (let at = 0; at < rows.length; at++) {
    const pivot = rows.reduce(
      (current, row, index) => (index >= at && size(row, at) > size(rows[current], at) ? index : current),
      at,
    );
    [rows[at], rows[pivot]] = [rows[pivot] ?? [], rows[at] ?? []];
    for (let other = 0; other < rows.length; other++) {
      if (other === at) continue;
      const factor = (rows[other]?.[at] ?? 0) / (rows[at]?.[at] ?? 1);
      rows[other] = (rows[other] ?? []).map((value, column) => value - factor * (rows[at]?.[column] ?? 0));
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1));
}

function size(row: readonly number[] | undefined, column: number): number {
  return Math.abs(row?.[column] ?? 0);
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
