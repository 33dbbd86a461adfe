import { accentedStemOf, analyse, isBigramCharacter } from './analyse.ts';
import { pairWeights } from './han-pairs.ts';
import { stemOf } from './language.ts';
import { questionWords } from './question-words.ts';

/** A query to a word index. It has terms only: the caller's text never reaches the database, so nothing can be injected. */
export type WordQuery =
  | WordLeaf
  | { readonly kind: 'and' | 'or'; readonly parts: readonly WordQuery[] }
  /** Finds the matches of `keep` except those of `drop`. */
  | { readonly kind: 'except'; readonly keep: WordQuery; readonly drop: WordQuery }
  /** Finds nothing: the text had no words. */
  | { readonly kind: 'nothing' };

/** A part of a query without operators: a word, a prefix, a phrase, or the words similar to a misspelt one. */
export type WordLeaf =
  | {
      readonly kind: 'term';
      readonly term: string;
      /** The word in the query, whose stem is the term. A document with exactly this word ranks higher. */
      readonly written?: string;
      /** Ranking weight, 1 by default. Does not change what is found. */
      readonly weight?: number;
      /** True if it looks like a word rather than code, and so may be misspelt if no document has it. */
      readonly correctable?: boolean;
    }
  | { readonly kind: 'prefix'; readonly prefix: string }
  /** Any of the terms most similar to a word that no document has. Created by the index, not by the parser. */
  | {
      readonly kind: 'fuzzy';
      /** The stem of the misspelt word, which identifies the leaf. */
      readonly word: string;
      readonly written: string;
      readonly terms: readonly FuzzyTerm[];
    }
  /** Adjacent terms. Extra terms of the analysis, such as joined forms, cannot be part of a phrase. */
  | { readonly kind: 'phrase'; readonly terms: readonly string[]; readonly lastIsPrefix: boolean };

export interface FuzzyTerm {
  readonly term: string;
  /** The word in the index, whose stem is the term. */
  readonly written: string;
  /** How likely this word was meant, from 0 to 1. The likeliest has 1. */
  readonly share: number;
}

/** Max leaves of a query. More are slow and do not improve the ranking. */
export const queryLeavesMax = 48;

/** Max terms of a query with operators, which is slower than a list of words. */
export const operatorTermsMax = 32;

/** Max phrases of a query, because each takes long to look up. */
export const queryPhrasesMax = 8;

/** Max prefixes of a query, and max prefixes of only two letters, which take as long as several common words. */
export const queryPrefixesMax = 5;
export const shortPrefixesMax = 2;

export function isShortPrefix(prefix: string): boolean {
  return prefix.length < 3 && !isBigramCharacter(prefix);
}

/** Max characters of a query. Text after that is ignored. */
const queryCharsMax = 10_000;

/**
 * Creates a query that finds any of the words and ranks by all; "quoted phrases" must match exactly. Words past the limit are
 * dropped. Question words are used only if there are no others and `allowsQuestionWords` is true.
 */
export function plainQuery(text: string, { allowsQuestionWords = true } = {}): WordQuery {
  const { phrases, unquoted } = quotedIn(text);
  if (phrases.length === 0) return anyWord(text, allowsQuestionWords);
  const others = anyWord(unquoted, false);
  // The phrases must match, so the other words only affect the ranking.
  return allOf(others.kind === 'nothing' ? phrases : [...phrases, anyOf([...phrases, others])]);
}

/** Matches a quoted phrase. Ignores inch marks and quotes inside words. */
const quote = /(?<![^\s(])(?:"(?=\S)([^"]*\S)"|“([^”]+)”)(?![\p{L}\p{N}])/gu;

/** Returns the quoted phrases, and the text without them. */
export function quotedIn(text: string): { readonly phrases: readonly WordQuery[]; readonly unquoted: string } {
  const phrases = Array.from(text.slice(0, queryCharsMax).matchAll(quote), ([, plain, curly]) =>
    phraseQuery(plain ?? curly ?? ''),
  )
    .filter(({ kind }) => kind !== 'nothing')
    .slice(0, queryPhrasesMax);
  return { phrases, unquoted: phrases.length === 0 ? text : text.replace(quote, ' ') };
}

function anyWord(text: string, allowsQuestionWords: boolean): WordQuery {
  const leaves = new Map<string, WordLeaf>();
  const questions = new Map<string, WordLeaf>();
  const words = analysed(text);
  const weights = pairWeights(text.slice(0, queryCharsMax));
  words.main.forEach((word, index) => {
    if (isLastOfRun(words.main, index)) return;
    const weight = weights.get(word.term);
    const leaf = withWeight(wordLeaf(word), weight);
    (questionWords.has(word.term) || weight === 0 ? questions : leaves).set(leafKey(leaf), leaf);
  });
  for (const term of words.extra) {
    if (!questionWords.has(term) && !words.stems.has(term)) leaves.set(term, { kind: 'term', term });
  }
  const chosen = leaves.size > 0 || !allowsQuestionWords ? leaves : questions;
  const terms = [...chosen.values()].filter((leaf) => leaf.kind === 'term').slice(0, queryLeavesMax - queryPrefixesMax);
  const prefixes = [...chosen.values()].filter((leaf) => leaf.kind === 'prefix').slice(0, queryPrefixesMax);
  return anyOf([...terms, ...prefixes]);
}

/** Max significant words of a query that counts as keywords. */
const keywordsMax = 2;

/** Returns true for a few words or a quoted phrase, but false for a short question such as "how do I restore a backup". */
export function isKeywords(text: string): boolean {
  if (isQuestion(text.slice(0, queryCharsMax).trim())) return false;
  return significantWords(text) <= keywordsMax || quotedIn(text).phrases.length > 0;
}

const questionPattern =
  /^(?:how|what|when|where|which|who|whom|whose|why|am|are|can|could|did|do|does|had|has|have|is|may|might|should|was|were|will|would)\b|[?？]$/i;

function isQuestion(text: string): boolean {
  return questionPattern.test(text) && text.split(/\s+/).length > keywordsMax;
}

/** Counts significant words; `multi-agent` is one. In scripts indexed as bigrams, counts the bigrams. */
function significantWords(text: string): number {
  const words = text
    .slice(0, queryCharsMax)
    .split(/\s+/)
    .filter((word) => plainQuery(word, { allowsQuestionWords: false }).kind !== 'nothing');
  return words.reduce((sum, word) => sum + (startsWithBigram(word) ? leavesOf(plainQuery(word)).length : 1), 0);
}

export function phraseQuery(text: string): WordQuery {
  return phraseOf(analysed(text).main, false);
}

/** Creates a query that needs all words, each as a prefix. Past the limits for prefixes, words must match exactly. */
export function prefixQuery(text: string): WordQuery {
  const words = text.slice(0, queryCharsMax).split(/\s+/).slice(0, queryLeavesMax);
  const remaining = { prefixes: queryPrefixesMax, short: shortPrefixesMax };
  const parts = words.map((word) => {
    const query = prefixWord(word);
    const last = query.kind === 'prefix' ? query.prefix : query.kind === 'phrase' ? query.terms.at(-1) : undefined;
    if (last === undefined) return query;
    remaining.prefixes -= 1;
    if (isShortPrefix(last)) remaining.short -= 1;
    return remaining.prefixes < 0 || (remaining.short < 0 && isShortPrefix(last)) ? exactWord(word) : query;
  });
  return allOf(parts.filter((part) => part.kind !== 'nothing'));
}

/** Creates the query for one word. A word with parts, such as `multi-agent`, matches joined, or as adjacent parts. */
export function exactWord(text: string): WordQuery {
  const { main, extra } = analysed(text);
  const [only] = main;
  if (only === undefined) return nothing;
  if (main.length === 1) {
    // A name that ends in a symbol, such as C++ or C#.
    const symbolTerm = extra.find((term) => /[+#]$/.test(term));
    return symbolTerm === undefined ? wordLeaf(only) : { kind: 'term', term: symbolTerm };
  }
  const whole = extra.find((term) => term.replaceAll('.', '') === main.map((word) => word.term).join(''));
  const phrase = phraseOf(main, false);
  return whole === undefined ? phrase : anyOf([phrase, { kind: 'term', term: whole }]);
}

export function prefixWord(text: string): WordQuery {
  const { main } = analysed(text);
  const [only] = main;
  if (only === undefined) return nothing;
  if (main.length > 1) return phraseOf(main, true);
  const isSingle = only.term.length === 1 && !isBigramCharacter(only.term);
  return isSingle ? wordLeaf(only) : { kind: 'prefix', prefix: only.term };
}

export const nothing: WordQuery = { kind: 'nothing' };

export function anyOf(parts: readonly WordQuery[]): WordQuery {
  return combine('or', parts);
}

export function allOf(parts: readonly WordQuery[]): WordQuery {
  return combine('and', parts);
}

/** Returns the leaves that can raise a score, each once. Omits excluded ones. */
export function leavesOf(query: WordQuery): WordLeaf[] {
  const leaves = new Map<string, WordLeaf>();
  const visit = (part: WordQuery): void => {
    if ('parts' in part) part.parts.forEach(visit);
    else if (part.kind === 'except') visit(part.keep);
    else if (part.kind !== 'nothing') leaves.set(leafKey(part), part);
  };
  visit(query);
  return [...leaves.values()];
}

export function leafKey(leaf: WordLeaf): string {
  if (leaf.kind === 'term') return leaf.term;
  if (leaf.kind === 'fuzzy') return leaf.word;
  return leaf.kind === 'prefix' ? `${leaf.prefix}*` : `"${leaf.terms.join(' ')}"${leaf.lastIsPrefix ? '*' : ''}`;
}

/** Returns each word of a leaf as its own leaf. */
export function membersOf(leaf: WordLeaf): WordLeaf[] {
  if (leaf.kind === 'fuzzy') return leaf.terms.map(({ term, written }) => ({ kind: 'term', term, written }));
  if (leaf.kind !== 'phrase') return [leaf];
  return leaf.terms.map((term, index) =>
    leaf.lastIsPrefix && index === leaf.terms.length - 1 ? { kind: 'prefix', prefix: term } : { kind: 'term', term },
  );
}

/** Replaces leaves of the query, except excluded ones. */
export function withLeaves(query: WordQuery, replace: (leaf: WordLeaf) => WordLeaf): WordQuery {
  if ('parts' in query) return { ...query, parts: query.parts.map((part) => withLeaves(part, replace)) };
  if (query.kind === 'except') return { ...query, keep: withLeaves(query.keep, replace) };
  return query.kind === 'nothing' ? query : replace(query);
}

interface MainWord {
  term: string;
  stem: string;
  isCorrectable: boolean;
  start: number;
  end: number;
}

function analysed(text: string): { main: MainWord[]; extra: string[]; stems: Set<string> } {
  const main: MainWord[] = [];
  const extra: string[] = [];
  const stems = new Set<string>();
  analyse(text.slice(0, queryCharsMax), (term, start, end, isExtra) => {
    if (isExtra) extra.push(term);
    else {
      const stem = accentedStemOf(text.slice(start, end), term);
      main.push({ term, stem, start, end, isCorrectable: isCorrectable(text, start, end) });
      stems.add(stem).add(stemOf(term));
    }
  });
  return { main, extra, stems };
}

/** Creates the leaf for a word. Chinese, Japanese and Korean are indexed as bigrams, so a single character is a prefix of one. */
function wordLeaf({ term, stem, isCorrectable }: MainWord): WordLeaf {
  if (isBigramCharacter(term)) return { kind: 'prefix', prefix: term };
  // No bonus for the exact form: bigrams have only one form, and the form of a question word does not matter.
  const hasNoForms = startsWithBigram(term) || questionWords.has(term);
  if (hasNoForms) return { kind: 'term', term: stem };
  return { kind: 'term', term: stem, written: term, ...(isCorrectable ? { correctable: true } : {}) };
}

function startsWithBigram(term: string): boolean {
  return isBigramCharacter(String.fromCodePoint(term.codePointAt(0) ?? 0));
}

function withWeight(leaf: WordLeaf, weight: number | undefined): WordLeaf {
  return leaf.kind === 'term' && weight ? { ...leaf, weight } : leaf;
}

/** True for the single last character of a run, which the bigram before it already covers. */
function isLastOfRun(words: readonly MainWord[], index: number): boolean {
  const word = words[index];
  const before = words[index - 1];
  return word !== undefined && before !== undefined && isBigramCharacter(word.term) && before.end >= word.end;
}

function phraseOf(words: readonly MainWord[], isPrefix: boolean): WordQuery {
  const used = isLastOfRun(words, words.length - 1) ? words.slice(0, -1) : words;
  const terms = used.slice(0, queryLeavesMax).map((word) => word.term);
  const [only] = terms;
  const last = terms.at(-1);
  if (only === undefined || last === undefined) return nothing;
  const lastIsPrefix = isPrefix || isBigramCharacter(last);
  if (terms.length > 1) return { kind: 'phrase', terms, lastIsPrefix };
  return lastIsPrefix ? { kind: 'prefix', prefix: only } : { kind: 'phrase', terms, lastIsPrefix: false };
}

function combine(kind: 'and' | 'or', parts: readonly WordQuery[]): WordQuery {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  if (kind === 'and' && flat.some((part) => part.kind === 'nothing')) return nothing;
  const found = flat.filter((part) => part.kind !== 'nothing');
  const [first] = found;
  if (first === undefined) return nothing;
  return found.length === 1 ? first : { kind, parts: found };
}

/** Matches ordinary spelling: no digits, and capitals only at the start. */
const plainWord = /^\p{L}[\p{Ll}\p{Lo}\p{M}]{2,}$/u;
/** Characters that may be right before or after a word of a sentence. Others, such as a slash, make it part of a name. */
const allowedBefore = /^[\s(¿¡]$/u;
const allowedAfter = /^[\s),;:!?.…]$/u;

/** True if a query word may be misspelt. Quoted words, code, digits and names in capitals are taken literally. */
function isCorrectable(text: string, start: number, end: number): boolean {
  if (!plainWord.test(text.slice(start, end))) return false;
  const [left, right, next] = [text[start - 1] ?? ' ', text[end] ?? ' ', text[end + 1] ?? ' '];
  if (!allowedBefore.test(left) || !allowedAfter.test(right) || (/[.:]/.test(right) && !/\s/.test(next))) return false;
  return !isQuoted(text.slice(0, start));
}

function isQuoted(head: string): boolean {
  const count = (sign: string) => head.split(sign).length - 1;
  return count('"') % 2 === 1 || count('`') % 2 === 1 || count('“') > count('”') || count('«') > count('»');
}
