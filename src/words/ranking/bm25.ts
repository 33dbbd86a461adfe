import type { DocumentTerms, TermText } from '../document-terms.ts';
import { type FuzzyTerm, leafKey, membersOf, type WordLeaf } from '../word-query.ts';

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

/**
 * Creates a BM25F scorer (Robertson, Zaragoza: "The probabilistic relevance framework", 2009, §3.6). Occurrences are weighted
 * by field and divided by the field's relative length; their sum then saturates.
 */
export function createScorer(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): (document: DocumentTerms) => DocumentScore {
  const weighted = withWeights(leaves, documentsWith, statistics);
  return (document) => {
    let [score, covered] = [0, 0];
    for (const each of weighted) {
      const part = leafScore(each, document, statistics);
      score += part;
      if (part > 0) covered += each.weight + each.writtenWeight;
    }
    return { score, covered };
  };
}

export interface DocumentScore {
  readonly score: number;
  /** The highest possible score from the leaves that the document has. */
  readonly covered: number;
}

/** Returns each leaf's part of a document's score, the largest first. Omits leaves that the document lacks. */
export function scoreTerms(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): (document: DocumentTerms) => TermScore[] {
  const weighted = withWeights(leaves, documentsWith, statistics);
  return (document) =>
    weighted
      .map((each) => ({
        term: leafKey(each.leaf),
        score: leafScore(each, document, statistics),
        highest: each.weight + each.writtenWeight,
        ...nearField(each.leaf, document),
      }))
      .filter(({ score }) => score > 0)
      .sort((left, right) => right.score - left.score || (left.term < right.term ? -1 : 1));
}

export interface TermScore {
  readonly term: string;
  readonly score: number;
  /** If the query's word is misspelt and in no document: the similar terms in this document. */
  readonly near?: readonly string[];
  /** The most that this term can add to a score. */
  readonly highest: number;
}

/** Returns the words of the document that are similar to a misspelt query word. */
export function similarWordsIn({ terms }: Extract<WordLeaf, { kind: 'fuzzy' }>, document: DocumentTerms): string[] {
  const has = ({ term }: FuzzyTerm) => fields.some((field) => countLeaf({ kind: 'term', term }, document[field]) > 0);
  return terms.filter(has).map(({ written }) => written);
}

function nearField(leaf: WordLeaf, document: DocumentTerms): { near?: readonly string[] } {
  return leaf.kind === 'fuzzy' ? { near: similarWordsIn(leaf, document) } : {};
}

/** Returns the highest possible score. A score divided by it is from 0 to 1. */
export function highestScore(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): number {
  return leaves.reduce((sum, leaf) => sum + leafWeight(leaf, documentsWith, statistics.documents), 0);
}

/** Returns the terms whose document counts a scorer needs. */
export function countedLeaves(leaves: readonly WordLeaf[]): WordLeaf[] {
  const counted = new Map<string, WordLeaf>();
  for (const leaf of leaves) {
    for (const part of membersOf(leaf)) counted.set(leafKey(part), part);
    for (const part of [leaf, ...membersOf(leaf)]) {
      const written = writtenOf(part);
      if (written !== undefined) counted.set(written, { kind: 'term', term: written });
    }
  }
  return [...counted.values()];
}

const fields = ['title', 'heading', 'body'] as const;

/** BM25's k1: the lower, the less repeated words add. Tuned, like the settings below, on several public data sets. */
const saturation = 0.9;
const boosts = { title: 2, heading: 1.5, body: 1 } as const satisfies Record<keyof FieldValues, number>;

/** Words in a title or heading count slightly less if it is longer than both this and the average. Short ones gain nothing. */
const titleLengthMin = 8;
const titleLengthShare = 0.3;

/**
 * How the body's length affects the score. Its length and the average count as at least `bodyLengthMin` terms. Bodies longer
 * than the average score lower, those shorter than `neutralFrom` × average score higher.
 */
const bodyLengthMin = 80;
const neutralFrom = 0.6;
const lossPerLength = 1.5;
const gainExponent = 1.5;

/** Bonus for the exact form of the query's word, as a share of that form's rarity. Counts once per document. */
const writtenShare = 0.2;

/** Weight of words similar to a misspelt one, relative to a word that is spelt right. */
const fuzzyWeight = 0.4;

interface WeightedLeaf {
  readonly leaf: WordLeaf;
  /** The leaf as it appears among a field's stored terms. Built once, because every document is searched for it. */
  readonly stored: string;
  readonly weight: number;
  readonly writtenWeight: number;
  /** The exact form, as it appears among a field's stored terms. */
  readonly writtenTerm: string | undefined;
  /** For a misspelt word: the similar words. Only the best one counts. */
  readonly near: readonly (WeightedLeaf & { readonly share: number })[];
}

function withWeights(
  leaves: readonly WordLeaf[],
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): WeightedLeaf[] {
  const { documents } = statistics;
  return leaves.map((leaf) => ({
    leaf,
    stored: storedForm(leaf),
    weight: formsWeight(leaf, documentsWith, documents),
    writtenWeight: writtenWeight(leaf, documentsWith, documents),
    writtenTerm: writtenOf(leaf) === undefined ? undefined : ` ${writtenOf(leaf)} `,
    near: weightedFuzzy(leaf, documentsWith, statistics),
  }));
}

function weightedFuzzy(
  leaf: WordLeaf,
  documentsWith: ReadonlyMap<string, number>,
  statistics: IndexStatistics,
): WeightedLeaf['near'] {
  if (leaf.kind !== 'fuzzy') return [];
  const weighted = withWeights(membersOf(leaf), documentsWith, statistics);
  return weighted.map((each, index) => ({ ...each, share: leaf.terms[index]?.share ?? 0 }));
}

function leafScore(weighted: WeightedLeaf, document: DocumentTerms, statistics: IndexStatistics): number {
  if (weighted.near.length > 0) {
    // Similar words count by likelihood, not by rarity. Otherwise the rarest one would win.
    const parts = weighted.near.map(({ share, ...each }) => {
      return (share * leafScore(each, document, statistics)) / (each.weight + each.writtenWeight);
    });
    return weighted.weight * Math.max(...parts);
  }
  const { leaf, stored, weight, writtenTerm } = weighted;
  let frequency = 0;
  let isWritten = false;
  for (const field of fields) {
    const occurrences = countStored(leaf, stored, document[field]);
    if (occurrences === 0) continue;
    const divisor = lengthDivisor(field, document[field].length, statistics.averageLengths[field]);
    frequency += (boosts[field] * occurrences) / divisor;
    isWritten ||= writtenTerm !== undefined && document[field].main.includes(writtenTerm);
  }
  if (frequency === 0) return 0;
  return (weight * frequency) / (saturation + frequency) + (isWritten ? weighted.writtenWeight : 0);
}

function lengthDivisor(field: keyof FieldValues, length: number, average: number): number {
  if (field !== 'body') return 1 + titleLengthShare * Math.max(0, length / Math.max(titleLengthMin, average) - 1);
  const relative = Math.max(bodyLengthMin, length) / Math.max(bodyLengthMin, average);
  return relative > 1 ? 1 + lossPerLength * (relative - 1) : Math.min(1, relative / neutralFrom) ** gainExponent;
}

/** Returns the most that a leaf can add to a score. Always above zero, so that a match never lowers a score. */
export function leafWeight(leaf: WordLeaf, documentsWith: ReadonlyMap<string, number>, documents: number): number {
  return formsWeight(leaf, documentsWith, documents) + writtenWeight(leaf, documentsWith, documents);
}

/** Estimates how many documents contain a leaf, from the counts of its words. */
export function documentsOf(leaf: WordLeaf, documentsWith: ReadonlyMap<string, number>): number {
  const counts = membersOf(leaf).map((member) => documentsWith.get(leafKey(member)) ?? 0);
  return leaf.kind === 'fuzzy' ? counts.reduce((sum, count) => sum + count, 0) : Math.min(...counts);
}

/** Weighs a leaf by rarity. A phrase is as rare as its words combined. */
function formsWeight(leaf: WordLeaf, documentsWith: ReadonlyMap<string, number>, documents: number): number {
  if (leaf.kind === 'fuzzy') {
    const [likeliest] = membersOf(leaf);
    return likeliest === undefined ? 0 : fuzzyWeight * leafWeight(likeliest, documentsWith, documents);
  }
  let weight = 0;
  for (const member of membersOf(leaf)) weight += rarity(documentsWith.get(leafKey(member)), documents);
  return weight * (leaf.kind === 'term' ? (leaf.weight ?? 1) : 1);
}

function writtenWeight(leaf: WordLeaf, documentsWith: ReadonlyMap<string, number>, documents: number): number {
  const written = writtenOf(leaf);
  return written === undefined ? 0 : writtenShare * rarity(documentsWith.get(written), documents);
}

function rarity(found = 0, documents: number): number {
  const count = Math.min(documents, found);
  return Math.log(1 + (documents - count + 0.5) / (count + 0.5));
}

function writtenOf(leaf: WordLeaf): string | undefined {
  return leaf.kind === 'term' ? leaf.written : undefined;
}

function countLeaf(leaf: WordLeaf, text: TermText): number {
  return countStored(leaf, storedForm(leaf), text);
}

function countStored(leaf: WordLeaf, stored: string, text: TermText): number {
  if (leaf.kind === 'fuzzy') return Math.max(...membersOf(leaf).map((member) => countLeaf(member, text)));
  const { main, extra } = text;
  // Phrases are not searched in `extra`, whose terms are not in text order.
  return countIn(main, stored) + (leaf.kind === 'phrase' || extra === '' ? 0 : countIn(extra, stored));
}

/** Returns the leaf as it appears among stored terms. Empty for a leaf with several terms to choose from. */
function storedForm(leaf: WordLeaf): string {
  switch (leaf.kind) {
    case 'term':
      return ` ${leaf.term} `;
    case 'prefix':
      return ` ${leaf.prefix}`;
    case 'phrase':
      return ` ${leaf.terms.join(' ')}${leaf.lastIsPrefix ? '' : ' '}`;
    case 'fuzzy':
      return '';
  }
}

/** Counts occurrences. Two of them may share the space between them. */
function countIn(text: string, term: string): number {
  let count = 0;
  for (let at = text.indexOf(term); at !== -1; at = text.indexOf(term, at + term.length - 1)) count += 1;
  return count;
}
