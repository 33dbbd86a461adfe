import { CarrelError } from '../../../base/errors.ts';
import { collectionOf, collectionTag } from '../../../engine/collection-tag.ts';
import type { Engine, EngineCall, UsedTags } from '../../../engine/engine.ts';
import { editDistance } from '../../../words/edit-distance.ts';
import { splitTags } from '../inputs/collections.ts';

export interface NamedCount {
  name: string;
  documents: number;
}

interface Used {
  readonly named: NamedCount[];
  readonly total: number;
}

/** The collections and tags with the most documents, up to a limit. */
export async function overview(
  engine: Pick<Engine, 'tagOverview'>,
  most: number,
  options: EngineCall,
): Promise<{ collections: Used; tags: Used }> {
  const { collections, others } = await engine.tagOverview({ collections: most, others: most }, options);
  return { collections: used(collections, collectionOf), tags: used(others, (tag) => tag) };
}

function used({ tags, total }: UsedTags, nameOf: (tag: string) => string): Used {
  return { named: tags.map(({ tag, count }) => ({ name: nameOf(tag), documents: count })), total };
}

const namedMax = 10;

/** Names the existing collections, closest spelling first. `total`: count of all, if not all are known. */
export function unknownCollection(wanted: string, known: readonly string[], total = known.length): CarrelError {
  const word = wanted.toLowerCase();
  const nearest = known
    .map((name) => ({ name, distance: editDistance(word, name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, namedMax)
    .map(({ name }) => name);
  const others = total - nearest.length;
  const names = nearest.join(', ') + (others > 0 ? ` and ${others} more (kb_list)` : '');
  const there = nearest.length === 0 ? 'There are no collections yet.' : `Existing collections: ${names}.`;
  return new CarrelError('collection_not_found', `There is no collection ${wanted}. ${there}`, {
    data: { collection: wanted, collections: nearest },
  });
}

/** Max collections compared; those with the most documents. */
const comparedMax = 10_000;

/** For an empty answer: throws if the collection doesn't exist. Does nothing if the engine can't tell. */
export async function checkCollection(
  engine: Pick<Engine, 'documents' | 'tagOverview'>,
  tags: readonly string[] | undefined,
  options: EngineCall,
): Promise<void> {
  const { collection } = splitTags(tags ?? []);
  if (collection === null) return;
  const known = await engine.tagOverview({ collections: comparedMax, others: 0 }, options).catch(() => undefined);
  options.signal?.throwIfAborted();
  if (known === undefined) return;
  const { total } = known.collections;
  const names = known.collections.tags.map(({ tag }) => collectionOf(tag));
  if (names.includes(collection)) return;
  if (names.length < total) {
    const query = { tags: [collectionTag(collection)], limit: 1 };
    const found = await engine.documents(query, options).catch(() => undefined);
    options.signal?.throwIfAborted();
    if (found?.total !== 0) return;
  }
  throw unknownCollection(collection, names, total);
}
