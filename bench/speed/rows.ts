import type { TestDocument } from '../../test/support/passages.ts';
import { createRandom as seededRandom } from '../statistics.ts';

/** One passage, the same for Carrel and for raw SQLite. */
export interface BenchRow {
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly body: string;
  readonly labels: readonly string[];
}

/** Passages per document. They share its title and labels. */
export const passagesOfDocument = 10;

export function documentNumberOf(row: number): number {
  return Math.floor(row / passagesOfDocument);
}

/**
 * Generates a passage with the statistics of English. Word frequencies follow Zipf–Mandelbrot. The commonest words are real
 * function words; the others have a root and one of several suffixes, so that stemming costs as much as in real text. The same
 * number always gives the same row.
 */
export function rowOf(number: number): BenchRow {
  const random = createRandom(number + 1);
  return {
    id: `p${number}`,
    title: wordsOf(createRandom(firstTitle + documentNumberOf(number)), 4),
    heading: wordsOf(random, 3),
    body: sentencesOf(random, 60 + Math.floor(random() * 80)),
    labels: labelsOf(number),
  };
}

/** Seed of the first title. Far above the seeds of the rows. */
const firstTitle = 70_000_000;

export function labelsOf(number: number): string[] {
  const document = documentNumberOf(number);
  return [`tag:collection${document % 10}`, `tag:half${document % 2}`];
}

/** Returns `count` rows, starting at `firstRow`, as documents. */
export function documentsOf(
  firstRow: number,
  count: number,
  moreLabels: (number: number) => readonly string[] = () => [],
): TestDocument[] {
  const documents: TestDocument[] = [];
  for (let number = firstRow; number < firstRow + count; number += passagesOfDocument) {
    const numbers = Array.from({ length: Math.min(passagesOfDocument, firstRow + count - number) }, (_, at) => at);
    documents.push({
      parent: String(documentNumberOf(number) + 1),
      passages: numbers.map((at) => {
        const { id, title, heading, body, labels } = rowOf(number + at);
        const tags = [...labels, ...moreLabels(number + at)].map((label) => label.replace('tag:', ''));
        return { id, title, headings: [heading], body, labels: tags };
      }),
    });
  }
  return documents;
}

/** Returns the words of a query: two to five, without function words, drawn with the frequencies of the text. */
export function queryOf(number: number): string[] {
  const random = createRandom(0x5eed + number);
  const words = new Set<string>();
  const wordCount = 2 + Math.floor(random() * 4);
  while (words.size < wordCount) {
    const rank = rankOf(random);
    if (rank >= functionWords.length) words.add(wordAt(rank));
  }
  return [...words];
}

/** Returns the `count` commonest words, starting at rank `first`. */
export function frequentWords(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, at) => wordAt(first + at));
}

export type Random = () => number;

/** Creates a random number generator. Consecutive seeds give unrelated numbers. */
export function createRandom(seed: number): Random {
  return seededRandom(Math.imul(seed, 0x9e3779b1));
}

const vocabularySize = 60_000;

/** Mandelbrot's shift: without it the first word alone would be a tenth of the text. */
const shift = 2.7;

const functionWords =
  'the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had they you were their one all we can her has there been if more when will would who so no'.split(
    ' ',
  );

const syllables =
  'ba be bo ca ce co da de di fa fi ga go la le lo ma me mi na ne no pa pe ra re ri sa se so ta te ti va ve vo'.split(
    ' ',
  );
const suffixes = ['', '', '', '', '', '', '', 's', 's', 'ed', 'ing', 'ation', 'ly'];

const words = Array.from({ length: vocabularySize }, (_, rank) => functionWords[rank] ?? makeWord(rank));

function makeWord(rank: number): string {
  const random = createRandom(rank);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const root = Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(syllables)).join('');
  return `${root}${pick(['n', 't', 'l', 'r', 'm'])}${pick(suffixes)}`;
}

function wordAt(rank: number): string {
  return words[rank] ?? '';
}

/** Draws a rank. The sum of 1 / (rank + shift) is close to a logarithm, so its inverse is an exponential. */
function rankOf(random: Random): number {
  const share = random();
  return Math.floor(shift * ((vocabularySize + shift) / shift) ** share - shift);
}

function wordsOf(random: Random, count: number): string {
  return Array.from({ length: count }, () => wordAt(rankOf(random))).join(' ');
}

function sentencesOf(random: Random, count: number): string {
  const sentences: string[] = [];
  for (let wordsLeft = count; wordsLeft > 0; ) {
    const length = Math.min(wordsLeft, 6 + Math.floor(random() * 14));
    const sentence = wordsOf(random, length);
    sentences.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
    wordsLeft -= length;
  }
  return sentences.join(' ');
}
