import { shortHash } from '../../../answers/explain.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import { entryUriPrefix } from './entry-resources.ts';

/** Returns an entry's URI, its hash for `verify`, and the range of the scored passage in UTF-16 units. */
export function citationOf(
  { id, text, textHash }: Entry,
  range: readonly [start: number, end: number] | undefined,
): { uri: string; hash: string; range: [start: number, end: number] } {
  const [start, end] = range ?? [0, text.length];
  return { uri: `${entryUriPrefix}${id}`, hash: shortHash(textHash), range: [start, end] };
}
