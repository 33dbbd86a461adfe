import { isObject } from '../../base/json.ts';
import { findReplacements, type Replacements } from '../../search/rank/replacements.ts';
import type { Entry, EntryFilter, Metadata } from '../../storage/entries/entry.ts';
import type { EntryStore } from '../../storage/entries/entry-store.ts';

/* An entry that replaces another one has its id in the metadata, under `references.replaces`. */

const replacesPath = ['references', 'replaces'] as const;

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

/** Characters loaded of each text. Longer texts never replace others implicitly; see `findReplacements`. */
const textChars = 1_001;

/** Max replacing entries considered, newest first. */
const replacingMax = 100;

/** Finds which of these entries replace one another, and which other entries explicitly replace one of them. */
export async function replacementsAmong(
  entries: EntryStore,
  ids: readonly number[],
  filter: EntryFilter,
  signal?: AbortSignal,
): Promise<Replacements> {
  const [requested, replacements] = await Promise.all([
    entries.get({ ids, images: false, asOf: filter.asOf, textChars }, { signal }),
    findReplacing(ids),
  ]);
  const byId = new Map([...requested, ...replacements].map((entry) => [entry.id, entry]));
  // A replacement may have been replaced itself.
  for (let added = replacements.filter(({ id }) => !ids.includes(id)); added.length > 0; ) {
    const further = await findReplacing(added.map(({ id }) => id));
    added = further.filter(({ id }) => !byId.has(id));
    for (const entry of added) byId.set(entry.id, entry);
  }
  return findReplacements(
    Array.from(byId.values(), ({ id, text, createdAt: time, metadata }) => {
      return { id, text, time, replaces: replacedIdOf(metadata) };
    }),
  );

  async function findReplacing(replaced: readonly number[]): Promise<readonly Entry[]> {
    const isReplaced = { path: replacesPath, operator: 'in', value: replaced, caseSensitive: true } as const;
    const metadata = [...(filter.metadata ?? []), isReplaced];
    const page = { limit: replacingMax, offset: 0, images: false, explain: false, textChars };
    return (await entries.list({ filter: { ...filter, metadata }, ...page }, { signal })).entries;
  }
}
