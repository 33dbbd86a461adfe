import { analyse } from './analyse.ts';
import { stemOf } from './language.ts';
import { questionWords } from './question-words.ts';
import { leavesOf, type WordLeaf, type WordQuery } from './word-query.ts';

/** An excerpt around the matches, on one line, with their positions. */
export interface Snippet {
  readonly text: string;
  /** Start and end of each match in `text`, in UTF-16 units, ordered and disjoint. */
  readonly marks: readonly (readonly [start: number, end: number])[];
  /** The excerpt's position in the whole text, in UTF-16 units. */
  readonly range: readonly [start: number, end: number];
}

/** Returns the excerpt with the most different query words, or the start of the text if it has none. */
export function makeSnippet(text: string, query: WordQuery, unitsMax = 200): Snippet {
  const matches = findMatches(text, query);
  const window = bestWindow(text, matches, unitsMax);
  return flatten(text, window, matches);
}

export interface Match {
  start: number;
  end: number;
  leaf: number;
}

interface Window {
  start: number;
  end: number;
}

/** Max matches to read, enough to choose an excerpt. */
const matchesMax = 1000;

/** Finds the query's words in a text, in text order. A phrase is one match. Question words count only if there are no others. */
export function findMatches(text: string, query: WordQuery): Match[] {
  const terms = new Map<string, number>();
  const prefixes: [prefix: string, leaf: number][] = [];
  const phrases: [phrase: PhraseLeaf, leaf: number][] = [];
  const leaves = leavesOf(query);
  const questionStems = new Set(Array.from(questionWords, stemOf));
  const isQuestionWord = (leaf: WordLeaf) =>
    leaf.kind === 'term' && leaf.written === undefined && questionStems.has(leaf.term);
  const hasOthers = !leaves.every(isQuestionWord);
  leaves.forEach((leaf, index) => {
    if (hasOthers && isQuestionWord(leaf)) return;
    if (leaf.kind === 'term') terms.set(leaf.term, index);
    else if (leaf.kind === 'prefix') prefixes.push([leaf.prefix, index]);
    else if (leaf.kind === 'fuzzy') for (const { term } of leaf.terms) terms.set(term, index);
    else phrases.push([leaf, index]);
  });
  const matches: Match[] = [];
  if (terms.size + prefixes.length + phrases.length === 0) return matches;
  /** The last words read, as many as the longest phrase has. */
  const recent: { term: string; start: number }[] = [];
  const recentMax = Math.max(0, ...phrases.map(([{ terms: words }]) => words.length));
  const isEnough = (): boolean => matches.length >= matchesMax;
  const visit: Parameters<typeof analyse>[1] = (term, start, end, isExtra) => {
    if (isEnough()) return;
    if (!isExtra && recentMax > 0) {
      recent.push({ term, start });
      if (recent.length > recentMax) recent.shift();
      for (const [phrase, leaf] of phrases) {
        const first = phraseStart(phrase, recent);
        if (first !== undefined) matches.push({ start: first, end, leaf });
      }
    }
    const leaf = terms.get(term) ?? prefixes.find(([prefix]) => term.startsWith(prefix))?.[1];
    if (leaf !== undefined) matches.push({ start, end, leaf });
  };
  analyse(text, visit, isEnough);
  return matches.sort((a, b) => a.start - b.start || b.end - a.end);
}

type PhraseLeaf = Extract<WordLeaf, { kind: 'phrase' }>;

/** Returns where the phrase starts if it ends with the last of these words. */
function phraseStart(
  { terms, lastIsPrefix }: PhraseLeaf,
  words: readonly { readonly term: string; readonly start: number }[],
): number | undefined {
  const from = words.length - terms.length;
  const isMatch = terms.every((term, index) => {
    const word = words[from + index]?.term;
    return word === term || (lastIsPrefix && index === terms.length - 1 && word?.startsWith(term) === true);
  });
  return isMatch ? words[from]?.start : undefined;
}

function bestWindow(text: string, matches: readonly Match[], unitsMax: number): Window {
  let best: { first: number; last: number; leaves: number } | undefined;
  let first = 0;
  const inside = new Map<number, number>();
  matches.forEach((match, last) => {
    inside.set(match.leaf, (inside.get(match.leaf) ?? 0) + 1);
    for (let left = matches[first]; left && first < last && match.end - left.start > unitsMax; left = matches[first]) {
      const count = (inside.get(left.leaf) ?? 1) - 1;
      if (count === 0) inside.delete(left.leaf);
      else inside.set(left.leaf, count);
      first += 1;
    }
    if (best === undefined || inside.size > best.leaves) best = { first, last, leaves: inside.size };
  });
  if (best === undefined) return { start: 0, end: wordEnd(text, 0, unitsMax) };
  const from = matches[best.first]?.start ?? 0;
  const to = matches[best.last]?.end ?? from;
  // Only a third of the spare length goes before the first match: text after a match explains more.
  const spare = Math.max(0, unitsMax - (to - from));
  const start = text.length <= unitsMax ? 0 : wordStart(text, Math.max(0, from - Math.floor(spare / 3)), from);
  return { start, end: wordEnd(text, start, unitsMax, Math.min(to, start + unitsMax)) };
}

/** Returns the first start of a word at or after `at`, but at most `limit`. */
function wordStart(text: string, at: number, limit: number): number {
  if (at === 0) return 0;
  const space = /\s\S/.exec(text.slice(at - 1, limit + 1));
  return space === null ? wholeCharacter(text, at) : Math.min(limit, at + space.index);
}

/** Returns the last end of a word within `unitsMax` of `start`, but not before `min`. */
function wordEnd(text: string, start: number, unitsMax: number, min = start): number {
  const end = start + unitsMax;
  if (end >= text.length) return text.length;
  const space = text.slice(min, end + 1).search(/\s\S*$/);
  return wholeCharacter(text, space === -1 ? end : min + space);
}

function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** Extracts the window, collapses white space and moves the marks accordingly. */
function flatten(text: string, window: Window, matches: readonly Match[]): Snippet {
  let result = window.start > 0 ? '…' : '';
  const offsets = new Map<number, number>();
  const edges = new Set(matches.flatMap(({ start, end }) => [start, end]));
  for (let at = window.start; at <= window.end; at += 1) {
    if (edges.has(at)) offsets.set(at, result.length);
    if (at === window.end) break;
    const character = text[at] ?? '';
    if (!/\s/.test(character)) result += character;
    else if (result !== '' && !result.endsWith(' ')) result += ' ';
  }
  const body = result.trimEnd();
  const marks: [number, number][] = [];
  for (const match of matches) {
    const start = offsets.get(match.start);
    const end = offsets.get(match.end);
    if (start === undefined || end === undefined || end > body.length || end <= start) continue;
    const last = marks.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else marks.push([start, end]);
  }
  return { text: window.end < text.length ? `${body}…` : body, marks, range: [window.start, window.end] };
}
