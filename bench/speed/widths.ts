import { dimensions, vectorOf } from './vectors.ts';

/** For each n, every passage gets one of n labels, unrelated to its vector. Each label covers one in n passages. */
const widths = [5, 20, 50];

/** For each n, every passage gets one of n labels by its vector, like a subject: that of the nearest of n pivot vectors. */
const subjects = [4, 10, 20, 50];

/** Number of the first pivot vector, far from the numbers of the rows. */
const firstPivot = 50_000_000;

/** Returns the labels of a passage, for filters that pass different shares of all passages. */
export function widthLabels(number: number): string[] {
  const vector = vectorOf(number);
  return [
    ...widths.map((width) => `tag:of${width}-${number % width}`),
    ...subjects.map((count) => `tag:subject${count}-${subjectOf(vector, count)}`),
  ];
}

export function subjectOf(vector: Float32Array, count: number): number {
  let best = { pivot: 0, score: Number.NEGATIVE_INFINITY };
  for (let pivot = 0; pivot < count; pivot += 1) {
    const score = product(vector, pivotOf(pivot));
    if (score > best.score) best = { pivot, score };
  }
  return best.pivot;
}

/** Returns the subject whose share of the passages is closest to the average. */
export function subjectNear(count: number): number {
  const counts = new Array<number>(count).fill(0);
  for (let number = 0; number < sampled; number += 1) {
    const subject = subjectOf(vectorOf(number), count);
    counts[subject] = (counts[subject] ?? 0) + 1;
  }
  const distance = (subject: number) => Math.abs((counts[subject] ?? 0) - sampled / count);
  return counts.map((_, subject) => subject).reduce((a, b) => (distance(b) < distance(a) ? b : a));
}

const sampled = 2000;

const pivots: Float32Array[] = [];

function pivotOf(number: number): Float32Array {
  pivots[number] ??= vectorOf(firstPivot + number);
  return pivots[number];
}

export function product(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < dimensions; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
