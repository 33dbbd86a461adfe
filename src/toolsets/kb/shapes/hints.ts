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
  const { collection, tags: otherTags } = splitTags(tags ?? []);
  const filters = { collection: collection !== null, tags: otherTags.length > 0, type: type !== undefined };
  const usedFilters = Object.entries(filters).flatMap(([name, isUsed]) => (isUsed ? [name] : []));
  if (usedFilters.length === 0) return 'There are no documents yet; kb_jobs shows running ingestions.';
  return `No document matches the filters (${usedFilters.join(', ')}). Leave some out; kb_list shows existing tags.`;
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
  const searchedDocuments = searched.total === 1 ? 'the one document' : `${searched.total} documents`;
  if (threshold !== undefined && threshold > 0) {
    return `Nothing in ${searchedDocuments} reaches the threshold ${threshold}. Search without it.`;
  }
  if (ftsOnly)
    return `Nothing in ${searchedDocuments} contains any of these words. Try others, or search without fts_only.`;
  return `Nothing relevant in ${searchedDocuments}. Try other words.`;
}

interface NameCount {
  name: string;
  documents: number;
}

interface TopNames {
  readonly top: NameCount[];
  /** Number of all names, including those not in `top`. */
  readonly total: number;
}

/** Returns the collections and the tags with the most documents, at most `max` of each. */
export async function topNames(
  engine: Pick<Engine, 'tags'>,
  max: number,
  options: EngineCall,
): Promise<{ collections: TopNames; tags: TopNames }> {
  const sorted = (await engine.tags(options))
    .filter(({ count }) => count > 0)
    .sort((left, right) => right.count - left.count);
  const mostUsed = (tags: readonly TagCount[], nameOf: (tag: string) => string): TopNames => ({
    top: tags.slice(0, max).map(({ tag, count }) => ({ name: nameOf(tag), documents: count })),
    total: tags.length,
  });
  return {
    collections: mostUsed(
      sorted.filter(({ tag }) => isCollectionTag(tag)),
      collectionOf,
    ),
    tags: mostUsed(
      sorted.filter(({ tag }) => !isCollectionTag(tag)),
      (tag) => tag,
    ),
  };
}

const suggestionsMax = 10;
/** Max collections whose spelling is compared with an unknown name. */
const comparedMax = 10_000;

/** Creates the error for an unknown collection. It names existing collections, the most similar first. */
export function unknownCollection(requested: string, existingNames: readonly string[]): CarrelError {
  const word = requested.toLowerCase();
  const closest = existingNames
    .slice(0, comparedMax)
    .map((name) => ({ name, distance: editDistance(word, name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, suggestionsMax)
    .map(({ name }) => name);
  const unlisted = existingNames.length - closest.length;
  const names = closest.join(', ') + (unlisted > 0 ? ` and ${unlisted} more (kb_list)` : '');
  const existing = closest.length === 0 ? 'There are no collections yet.' : `Existing collections: ${names}.`;
  return new CarrelError('collection_not_found', `There is no collection ${requested}. ${existing}`, {
    data: { collection: requested, collections: closest },
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
  const names = await topNames(engine, Number.POSITIVE_INFINITY, options).catch(() => undefined);
  options.signal?.throwIfAborted();
  const existing = names?.collections.top.map(({ name }) => name);
  if (existing?.includes(collection) === false) throw unknownCollection(collection, existing);
}
