import type { Snippet } from '../../src/words/snippet.ts';

/** Returns the snippet's text with `open` and `close` around each match. */
export function markedText(snippet: Snippet, open: string, close: string): string {
  let result = '';
  let at = 0;
  for (const [start, end] of snippet.marks) {
    result += snippet.text.slice(at, start) + open + snippet.text.slice(start, end) + close;
    at = end;
  }
  return result + snippet.text.slice(at);
}
