import { isObject } from '../../base/json.ts';
import type { Metadata } from '../../storage/entries/entry.ts';

/* An entry's metadata holds the id of the entry it replaces, beside its other references. */

export const replacesPath = ['references', 'replaces'] as const;

/** The id of the replaced entry, if any. */
export function replacedIdOf(metadata: Metadata | undefined): number | undefined {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  const id = isObject(references) ? references[key] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** Metadata, or a patch, for an entry that replaces another. */
export function withReplaced(metadata: Metadata | undefined, id: number): Metadata {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  return { ...metadata, [group]: { ...(isObject(references) ? references : {}), [key]: id } };
}
