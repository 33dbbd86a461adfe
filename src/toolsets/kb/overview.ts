import { CarrelError } from '../../base/errors.ts';
import { collectionTag } from '../../engine/collection-tag.ts';
import type { Engine, EngineCall } from '../../engine/engine.ts';
import { editDistance } from '../../words/edit-distance.ts';
import { splitTags } from './collections.ts';

export interface NamedCount {
  name: string;
  documents: number;
}

/** The collections and the other tags, those with the most documents first. */
export async function overview(
  engine: Pick<Engine, 'tags'>,
  options: EngineCall,
): Promise<{ collections: NamedCount[]; tags: NamedCount[] }> {
  const collections: NamedCount[] = [];
  const tags: NamedCount[] = [];
  for (const { tag, count } of await engine.tags(options)) {
    if (count <= 0) continue;
    const { collection } = splitTags([tag]);
    if (collection === null) tags.push({ name: tag, documents: count });
    else collections.push({ name: collection, documents: count });
  }
  const most = (left: NamedCount, right: NamedCount): number => right.documents - left.documents;
  return { collections: collections.sort(most), tags: tags.sort(most) };
}

const namedMax = 10;

/** Names the collections that there are, those spelt most alike first. */
export function unknownCollection(wanted: string, known: readonly NamedCount[]): CarrelError {
  const word = wanted.toLowerCase();
  const nearest = known
    .map(({ name }) => ({ name, distance: editDistance(word, name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .map(({ name }) => name);
  const others = nearest.length - namedMax;
  const names = nearest.slice(0, namedMax).join(', ') + (others > 0 ? ` and ${others} more (kb_list)` : '');
  const there = nearest.length === 0 ? 'There are no collections yet.' : `There are: ${names}.`;
  return new CarrelError('collection_not_found', `No document is in the collection ${wanted}. ${there}`, {
    data: { collection: wanted, collections: nearest.slice(0, namedMax) },
  });
}

/** For an answer that is empty: whether the collection exists at all. An engine that can't tell is believed. */
export async function checkCollection(
  engine: Pick<Engine, 'tags'>,
  tags: readonly string[] | undefined,
  options: EngineCall,
): Promise<void> {
  const { collection } = splitTags(tags ?? []);
  if (collection === null) return;
  const known = await engine.tags(options).catch(() => undefined);
  options.signal?.throwIfAborted();
  if (known === undefined || known.some(({ tag, count }) => tag === collectionTag(collection) && count > 0)) return;
  throw unknownCollection(collection, (await overview({ tags: async () => known }, options)).collections);
}
