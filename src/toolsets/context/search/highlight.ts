import { findMatches } from '../../../words/snippet.ts';
import type { WordQuery } from '../../../words/word-query.ts';

/** The whole text with `<mark>` around the matches. Marks that are already in the text are escaped. */
export function highlight(text: string, query: WordQuery): string {
  let result = '';
  let at = 0;
  for (const { start, end } of findMatches(text, query)) {
    if (start < at) continue;
    result += `${plain(text.slice(at, start))}<mark>${plain(text.slice(start, end))}</mark>`;
    at = end;
  }
  return result + plain(text.slice(at));
}

function plain(text: string): string {
  return text.replace(/<(\/?mark>)/gi, '&lt;$1');
}
