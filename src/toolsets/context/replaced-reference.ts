import { isObject } from '../../base/json.ts';
import type { Metadata } from '../../storage/entries/entry.ts';

/* An entry that replaces another has the other's id in its metadata, beside further references. */

export const replacesPath = ['references', 'replaces'] as const;

/** Returns the id of the replaced entry, if any. */
export function replacedIdOf(metadata: Metadata | undefined): number | undefined {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  const id = isObject(references) ? references[key] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** Adds the id of the replaced entry to metadata, or to a metadata patch. */
export function withReplaced(metadata: Metadata | undefined, id: number): Metadata {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  return { ...metadata, [group]: { ...(isObject(references) ? references : {}), [key]: id } };
}
