import { oneLine } from '../base/text.ts';
import { findMatches } from '../words/snippet.ts';
import { plainQuery } from '../words/word-query.ts';

export interface Found {
  readonly query: string;
  /** Where words may have matched: title and text. */
  readonly text: string;
  /** Those of the query that are in the text, where they are known already. */
  readonly words?: readonly string[] | undefined;
  /** Where in the whole the passage is, such as `page 3`. */
  readonly place?: string | undefined;
  /** The passage that is nearest in meaning, for hits without any of the words. */
  readonly passage?: string | undefined;
  readonly relevance?: number | undefined;
}

const wordsMax = 5;
const passageUnitsMax = 80;

/** Why something was found: the words that matched, else the passage, and how relevant it is. */
export function whyFound({ query, text, words = matchedWords(query, text), place, passage, relevance }: Found): string {
  const reason =
    words.length > 0
      ? `has ${words.map((word) => `"${word}"`).join(', ')}`
      : `near in meaning: "${shortened(passage ?? text)}"`;
  const where = place === undefined ? '' : `, ${place}`;
  return `${reason}${where}${relevance === undefined ? '' : `; relevance ${relevance}`}`;
}

/** As they are written in the text, each once. */
export function matchedWords(query: string, text: string): string[] {
  const words = findMatches(text, plainQuery(query)).map(({ start, end }) => text.slice(start, end).toLowerCase());
  return [...new Set(words)].slice(0, wordsMax);
}

function shortened(text: string): string {
  const line = oneLine(text);
  return line.length <= passageUnitsMax ? line : `${line.slice(0, passageUnitsMax).toWellFormed()}…`;
}
