import { CarrelError } from '../../../base/errors.ts';
import { collectionOf, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { Engine, EngineCall, TagCount } from '../../../engine/engine.ts';
import { editDistance } from '../../../words/edit-distance.ts';
import { splitTags } from '../inputs/collections.ts';

export interface DocumentFilters {
  readonly tags: readonly string[] | undefined;
  readonly type: string | undefined;
}

/** Explains why a list is empty. */
export function noDocuments({ tags, type }: DocumentFilters): string {
  const { collection, tags: others } = splitTags(tags ?? []);
  const filters = { collection: collection !== null, tags: others.length > 0, type: type !== undefined };
  const used = Object.entries(filters).flatMap(([name, isUsed]) => (isUsed ? [name] : []));
  if (used.length === 0) return 'There are no documents yet; kb_jobs shows running ingestions.';
  return `No document matches the filters (${used.join(', ')}). Leave some out; kb_list shows existing tags.`;
}

interface SearchFilters extends DocumentFilters {
  readonly ftsOnly: boolean;
  readonly threshold: number | undefined;
}

/** Explains why a search found nothing. Returns undefined if the engine fails to count the documents. */
export async function nothingFound(
  engine: Pick<Engine, 'documents'>,
  { ftsOnly, threshold, ...filters }: SearchFilters,
  options: EngineCall,
): Promise<string | undefined> {
  const searched = await engine.documents({ ...filters, limit: 1, offset: 0 }, options).catch(() => undefined);
  options.signal?.throwIfAborted();
  if (searched === undefined) return undefined;
  if (searched.total === 0) return noDocuments(filters);
  const among = searched.total === 1 ? 'the one document' : `${searched.total} documents`;
  if (threshold !== undefined && threshold > 0) {
    return `Nothing in ${among} reaches the threshold ${threshold}. Search without it.`;
  }
  if (ftsOnly) return `Nothing in ${among} contains any of these words. Try others, or search without fts_only.`;
  return `Nothing relevant in ${among}. Try other words.`;
}

interface NamedCount {
  name: string;
  documents: number;
}

interface UsedNames {
  readonly named: NamedCount[];
  /** Number of all names, of which `named` has the most used. */
  readonly total: number;
}

/** Returns the collections and the tags with the most documents, at most `max` of each. */
export async function overview(
  engine: Pick<Engine, 'tags'>,
  max: number,
  options: EngineCall,
): Promise<{ collections: UsedNames; tags: UsedNames }> {
  const used = (await engine.tags(options))
    .filter(({ count }) => count > 0)
    .sort((left, right) => right.count - left.count);
  const mostUsed = (tags: readonly TagCount[], nameOf: (tag: string) => string): UsedNames => ({
    named: tags.slice(0, max).map(({ tag, count }) => ({ name: nameOf(tag), documents: count })),
    total: tags.length,
  });
  return {
    collections: mostUsed(
      used.filter(({ tag }) => isCollectionTag(tag)),
      collectionOf,
    ),
    tags: mostUsed(
      used.filter(({ tag }) => !isCollectionTag(tag)),
      (tag) => tag,
    ),
  };
}

const namedMax = 10;
/** Max collections whose spelling is compared with an unknown name. */
const comparedMax = 10_000;

/** Creates the error for an unknown collection. It names existing collections, the most similar first. */
export function unknownCollection(requested: string, known: readonly string[]): CarrelError {
  const word = requested.toLowerCase();
  const nearest = known
    .slice(0, comparedMax)
    .map((name) => ({ name, distance: editDistance(word, name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, namedMax)
    .map(({ name }) => name);
  const others = known.length - nearest.length;
  const names = nearest.join(', ') + (others > 0 ? ` and ${others} more (kb_list)` : '');
  const existing = nearest.length === 0 ? 'There are no collections yet.' : `Existing collections: ${names}.`;
  return new CarrelError('collection_not_found', `There is no collection ${requested}. ${existing}`, {
    data: { collection: requested, collections: nearest },
  });
}

/** Throws if the collection doesn't exist. Does nothing if the engine fails to list tags. */
export async function checkCollection(
  engine: Pick<Engine, 'tags'>,
  tags: readonly string[] | undefined,
  options: EngineCall,
): Promise<void> {
  const { collection } = splitTags(tags ?? []);
  if (collection === null) return;
  const used = await overview(engine, Number.POSITIVE_INFINITY, options).catch(() => undefined);
  options.signal?.throwIfAborted();
  const names = used?.collections.named.map(({ name }) => name);
  if (names?.includes(collection) === false) throw unknownCollection(collection, names);
}
