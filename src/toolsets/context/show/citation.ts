import { shortHash } from '../../../answers/explain.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import { entryUriPrefix } from './entry-resources.ts';

/** What `verify` takes, and where in the text the passage stands that was judged: in UTF-16 units, as `verify` counts. */
export function citationOf(
  { id, text, textHash }: Entry,
  range: readonly [start: number, end: number] | undefined,
): { uri: string; hash: string; range: [start: number, end: number] } {
  const [start, end] = range ?? [0, text.length];
  return { uri: `${entryUriPrefix}${id}`, hash: shortHash(textHash), range: [start, end] };
}
