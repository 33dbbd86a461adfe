import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import { averageSubject, dotProduct, filterLabels } from './filter-labels.ts';
import { labelsOf } from './rows.ts';
import { queryVectorOf, vectorOf } from './vectors.ts';

export interface Filter {
  readonly name: string;
  readonly filter: PassageFilter | undefined;
  passes(number: number, labels: readonly string[]): boolean;
}

/** Returns filters that pass between 2 % and all of the passages, by subject and by labels that are unrelated to the vectors. */
export function filtersOf(): Filter[] {
  return [
    { name: 'no filter', filter: undefined, passes: () => true },
    byTag('half by label', 'half1'),
    byTag('a fifth by label', 'of5-3'),
    byTag('a tenth by label', 'collection3'),
    byTag('a twentieth by label', 'of20-3'),
    byTag('a fiftieth by label', 'of50-3'),
    ...[10, 20, 50].map((count) =>
      byTag(`about one in ${count} by subject`, `subject${count}-${averageSubject(count)}`),
    ),
  ];
}

function byTag(name: string, tag: string): Filter {
  const label = `tag:${tag}`;
  return { name, filter: { labels: [[label]] }, passes: (_, labels) => labels.includes(label) };
}

export interface ExactAnswers {
  readonly passing: number;
  /** The nearest passages of each query, by number. */
  readonly nearest: readonly (readonly number[])[];
}

interface Found {
  readonly number: number;
  readonly score: number;
}

/** Computes the exact nearest passages for each filter. */
export function exactAnswers(
  filters: readonly Filter[],
  { passages, queries, limit }: { readonly passages: number; readonly queries: number; readonly limit: number },
): ExactAnswers[] {
  const queryVectors = Array.from({ length: queries }, (_, query) => queryVectorOf(query));
  const answers = filters.map((filter) => ({ filter, passing: 0, nearest: queryVectors.map(() => [] as Found[]) }));
  for (let number = 0; number < passages; number += 1) {
    const vector = vectorOf(number);
    const scores = queryVectors.map((query) => dotProduct(vector, query));
    const labels = [...labelsOf(number), ...filterLabels(number)];
    for (const answer of answers) {
      if (!answer.filter.passes(number, labels)) continue;
      answer.passing += 1;
      for (const [query, list] of answer.nearest.entries())
        insertByScore(list, { number, score: scores[query] ?? 0 }, limit);
    }
  }
  return answers.map(({ passing, nearest }) => ({
    passing,
    nearest: nearest.map((list) => list.map(({ number }) => number)),
  }));
}

function insertByScore(list: Found[], found: Found, limit: number): void {
  if (list.length === limit && found.score <= (list.at(-1)?.score ?? 0)) return;
  const index = list.findIndex(({ score }) => score < found.score);
  list.splice(index === -1 ? list.length : index, 0, found);
  if (list.length > limit) list.pop();
}
