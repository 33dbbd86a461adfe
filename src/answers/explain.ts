import * as z from 'zod';
import { oneLine } from '../base/text.ts';
import { findMatches } from '../words/snippet.ts';
import { plainQuery } from '../words/word-query.ts';

/** Argument of searches. Answers are short by default, because every token costs money. */
export const explainInput = {
  explain: z.boolean().default(false).describe('Add reason, scores, hash and range.'),
};

const hashDigits = 16;

/** Shortens a hash for answers. The `verify` tool accepts it. */
export function shortHash(hash: string): string {
  return hash.slice(0, hashDigits);
}

/** Copies plain data, rounding numbers to three decimals. */
export function rounded<Data>(data: Data): Data {
  if (typeof data === 'number') return (Math.round(data * 1000) / 1000) as Data;
  if (Array.isArray(data)) return data.map(rounded) as Data;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, rounded(value)])) as Data;
}

interface HitToExplain {
  readonly query: string;
  /** The text that was searched, including the title. */
  readonly text: string;
  /** The query's words that occur in the text; found by `whyFound` if undefined. */
  readonly words?: readonly string[] | undefined;
  /** The passage's location, such as `page 3`. */
  readonly location?: string | undefined;
  /** The closest passage in meaning, for hits without matching words. */
  readonly passage?: string | undefined;
}

const wordsMax = 5;
const passageUnitsMax = 80;

/** Explains a hit: matched words or closest passage. */
export function whyFound({ query, text, words = matchedWords(query, text), location, passage }: HitToExplain): string {
  const reason =
    words.length > 0
      ? `has ${words.map((word) => `"${word}"`).join(', ')}`
      : `similar in meaning: "${shortened(passage ?? text)}"`;
  const where = location === undefined ? '' : `, ${location}`;
  return `${reason}${where}`;
}

/** Returns the query's words that occur in the text, as spelled there but in lower case, without duplicates. */
export function matchedWords(query: string, text: string): string[] {
  const words = findMatches(text, plainQuery(query)).map(({ start, end }) => text.slice(start, end).toLowerCase());
  return [...new Set(words)].slice(0, wordsMax);
}

function shortened(text: string): string {
  const line = oneLine(text);
  return line.length <= passageUnitsMax ? line : `${line.slice(0, passageUnitsMax).toWellFormed()}…`;
}

/** Explains an empty result when only low-relevance hits exist. */
export function weakHint(omitted: number, one: string, many: string): string {
  const hidden = omitted === 1 ? `One ${one} of low relevance is` : `${omitted} ${many} of low relevance are`;
  return `No relevant results. ${hidden} hidden; include_weak: true shows them.`;
}
