import type { Metadata } from '../../contracts/entries.ts';

/** RFC 7396 §2: nulls take keys away, objects are merged, everything else replaces. */
export function mergePatch(target: Metadata, patch: Metadata): Metadata {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isObject(value)) {
      const known = merged.get(key);
      merged.set(key, mergePatch(isObject(known) ? known : {}, value));
    } else merged.set(key, value);
  }
  // Not by assignment: a key named __proto__ is a key like any other.
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
