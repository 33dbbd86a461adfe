import { oneLine } from '../base/text.ts';
import { findMatches } from '../words/snippet.ts';
import { plainQuery } from '../words/word-query.ts';

export interface Found {
  readonly query: string;
  /** The text in which the query's words may occur, including the title. */
  readonly text: string;
  /** The query's words that occur in the text. If undefined, `whyFound` looks for them. */
  readonly words?: readonly string[] | undefined;
  /** The passage's location, such as `page 3`. */
  readonly location?: string | undefined;
  /** The closest passage in meaning, for hits without matching words. */
  readonly passage?: string | undefined;
}

const wordsMax = 5;
const passageUnitsMax = 80;

/** Explains a hit: matched words or closest passage. */
export function whyFound({ query, text, words = matchedWords(query, text), location, passage }: Found): string {
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
