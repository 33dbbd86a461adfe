import { isObject } from '../../base/json.ts';
import type { Metadata } from '../../storage/entries/entry.ts';

/* An entry keeps the id of the one that it replaces in its metadata, beside the ids that it refers to. */

export const replacesPath = ['references', 'replaces'] as const;

/** The id of the entry that one with this metadata replaces. */
export function replacedIdOf(metadata: Metadata | undefined): number | undefined {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  const id = isObject(references) ? references[key] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** The metadata, or a patch of it, of an entry that replaces another. */
export function withReplaced(metadata: Metadata | undefined, id: number): Metadata {
  const [group, key] = replacesPath;
  const references = metadata?.[group];
  return { ...metadata, [group]: { ...(isObject(references) ? references : {}), [key]: id } };
}
