import { documentNumberOf, passagesOfDocument } from './rows.ts';
import { dimensions, vectorOf } from './vectors.ts';

/** For each n, every document gets one of n labels, unrelated to its vectors. Each label covers one in n documents. */
const labelCounts = [5, 20, 50];

/** For each n, labels that behave like subjects: every document gets the label of the pivot vector nearest to its first passage. */
const subjectCounts = [4, 10, 20, 50];

/** Seed of the first pivot vector. Far above the seeds of the rows, so that no pivot equals a row. */
const firstPivot = 50_000_000;

/** Returns the labels of a passage's document, for filters that match different fractions of the passages. */
export function filterLabels(number: number): string[] {
  const document = documentNumberOf(number);
  const vector = vectorOf(document * passagesOfDocument);
  return [
    ...labelCounts.map((count) => `tag:of${count}-${document % count}`),
    ...subjectCounts.map((count) => `tag:subject${count}-${subjectOf(vector, count)}`),
  ];
}

export function subjectOf(vector: Float32Array, count: number): number {
  let best = { pivot: 0, score: Number.NEGATIVE_INFINITY };
  for (let pivot = 0; pivot < count; pivot += 1) {
    const score = dotProduct(vector, pivotOf(pivot));
    if (score > best.score) best = { pivot, score };
  }
  return best.pivot;
}

/** Returns the subject whose share of the passages is closest to the average. */
export function averageSubject(count: number): number {
  const counts = new Array<number>(count).fill(0);
  for (let number = 0; number < sampleSize; number += 1) {
    const subject = subjectOf(vectorOf(number * passagesOfDocument), count);
    counts[subject] = (counts[subject] ?? 0) + 1;
  }
  const distance = (subject: number) => Math.abs((counts[subject] ?? 0) - sampleSize / count);
  return counts.map((_, subject) => subject).reduce((a, b) => (distance(b) < distance(a) ? b : a));
}

const sampleSize = 2000;

const pivots: Float32Array[] = [];

function pivotOf(number: number): Float32Array {
  pivots[number] ??= vectorOf(firstPivot + number);
  return pivots[number];
}

export function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < dimensions; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
