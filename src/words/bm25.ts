import type { TermText } from './term-text.ts';
import { leafKey, membersOf, type WordLeaf } from './word-query.ts';

/** What an index knows about its documents as a whole. */
export interface IndexStatistics {
  readonly documents: number;
  /** Mean number of terms per document, by field. */
  readonly averageLengths: FieldValues;
}

export interface FieldValues {
  readonly title: number;
  readonly heading: number;
  readonly body: number;
}

export type DocumentTerms = { readonly [Field in keyof FieldValues]: TermText };

/**
 * BM25 over fields (Robertson, Zaragoza: "The probabilistic relevance framework", 2009, §3.6): occurrences are weighed and
 * divided by the relative length of their field before they saturate, so that a word in both title and body is not
 * counted as two.
 */
export function createScorer(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): (document: DocumentTerms) => number {
  const weighed = weigh(leaves, documentsWith, statistics);
  return (document) => {
    let score = 0;
    for (const each of weighed) score += leafScore(each, document, statistics);
    return score;
  };
}

/** What each leaf adds to the score of a document, the most first; leaves that it does not hold are left out. */
export function weighTerms(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): (document: DocumentTerms) => TermScore[] {
  const weighed = weigh(leaves, documentsWith, statistics);
  return (document) =>
    weighed
      .map((each) => ({ term: leafKey(each.leaf), score: leafScore(each, document, statistics) }))
      .filter(({ score }) => score > 0)
      .sort((left, right) => right.score - left.score || (left.term < right.term ? -1 : 1));
}

export interface TermScore {
  /** As the query has it: a stem, a "phrase", a beginning*. */
  readonly term: string;
  readonly score: number;
}

/** What a document would get that held every leaf countless times: scores divided by it lie between 0 and 1. */
export function highestScore(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): number {
  return leaves.reduce((sum, leaf) => sum + leafWeight(leaf, documentsWith, statistics.documents), 0);
}

/** The terms whose number of documents a scorer needs. */
export function countedLeaves(leaves: readonly WordLeaf[]): WordLeaf[] {
  const counted = new Map<string, WordLeaf>();
  for (const leaf of leaves) {
    for (const part of membersOf(leaf)) counted.set(leafKey(part), part);
  }
  return [...counted.values()];
}

const fields = ['title', 'heading', 'body'] as const;

/**
 * Chosen on the dev splits of LoCoMo, SciFact, CoSQA and Chroma's chunks together; one setting for all. A field longer than
 * the average, and than `lengthMin` terms, is held against its document; a shorter one is no merit: the turns of a chat are
 * short or long by chance, and "yes, thanks" must not gain from it.
 */
const saturation = 0.9;
const fieldSettings = {
  title: { boost: 2, lengthShare: 0.3, lengthMin: 8 },
  heading: { boost: 1.5, lengthShare: 0.3, lengthMin: 8 },
  body: { boost: 1, lengthShare: 0.75, lengthMin: 80 },
} as const satisfies Record<keyof FieldValues, { boost: number; lengthShare: number; lengthMin: number }>;

interface WeighedLeaf {
  readonly leaf: WordLeaf;
  readonly weight: number;
}

function weigh(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): WeighedLeaf[] {
  return leaves.map((leaf) => ({ leaf, weight: leafWeight(leaf, documentsWith, statistics.documents) }));
}

function leafScore({ leaf, weight }: WeighedLeaf, document: DocumentTerms, statistics: IndexStatistics): number {
  let frequency = 0;
  for (const field of fields) {
    const occurrences = countLeaf(leaf, document[field]);
    if (occurrences === 0) continue;
    const { boost, lengthShare, lengthMin } = fieldSettings[field];
    const relative = document[field].length / Math.max(lengthMin, statistics.averageLengths[field]);
    frequency += (boost * occurrences) / (1 + lengthShare * Math.max(0, relative - 1));
  }
  return frequency > 0 ? (weight * frequency) / (saturation + frequency) : 0;
}

/** A phrase is as rare as its words are together. Always above zero, so that a match never lowers a score. */
export function leafWeight(leaf: WordLeaf, documentsWith: ReadonlyMap<string, number>, documents: number): number {
  let weight = 0;
  for (const member of membersOf(leaf)) {
    const found = Math.min(documents, documentsWith.get(leafKey(member)) ?? 0);
    weight += Math.log(1 + (documents - found + 0.5) / (found + 0.5));
  }
  return weight;
}

function countLeaf(leaf: WordLeaf, text: TermText): number {
  switch (leaf.kind) {
    case 'term':
      return countIn(text.main, ` ${leaf.term} `) + countIn(text.extra, ` ${leaf.term} `);
    case 'prefix':
      return countIn(text.main, ` ${leaf.prefix}`) + countIn(text.extra, ` ${leaf.prefix}`);
    case 'phrase':
      return countIn(text.main, ` ${leaf.terms.join(' ')}${leaf.open ? '' : ' '}`);
  }
}

/** Occurrences may share the space between them. */
function countIn(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length - 1)) count += 1;
  return count;
}
