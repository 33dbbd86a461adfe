import { makeSnippet } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';

/** Max characters of a part: about 256 English tokens, as many as the model reads. */
const unitsMax = 1_100;

/** A text, and the part of it that is nearest to the query. */
export interface WindowedText {
  readonly text: string;
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

export interface TextPart {
  readonly text: string;
  /** The position of the part in the whole text, in UTF-16 units. */
  readonly range: readonly [start: number, end: number];
}

/** Returns the part of a long text that the model should read: around its nearest window, or else around the query's words. */
export function bestPart({ text, window }: WindowedText, query: string): TextPart {
  if (text.length <= unitsMax) return { text, range: [0, text.length] };
  const length = window ? window.end - window.start : 0;
  if (window === undefined || length > unitsMax) return makeSnippet(text, plainQuery(query), unitsMax);
  const start = Math.max(0, Math.min(window.start - Math.floor((unitsMax - length) / 2), text.length - unitsMax));
  return { text: text.slice(start, start + unitsMax), range: [start, start + unitsMax] };
}
