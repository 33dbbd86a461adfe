import { isCollectionTag } from '../collection-tag.ts';
import type { TagCount, TagOverview, TagOverviewSizes, UsedTags } from '../engine.ts';
import { looseNumber, looseObject } from './loose.ts';
import { readTags } from './read-answers.ts';

/** Undefined if this is the answer of an engine that does not know overviews. */
export function readTagOverview(value: unknown): TagOverview | undefined {
  const { collections, others } = looseObject(value);
  const [first, second] = [readUsed(collections), readUsed(others)];
  return first && second && { collections: first, others: second };
}

function readUsed(value: unknown): UsedTags | undefined {
  const total = looseNumber(looseObject(value)['total']);
  const tags = readTags(value);
  return total === null || tags === undefined ? undefined : { tags, total };
}

/** An overview from a list of all tags. */
export function overviewOf(all: readonly TagCount[], most: TagOverviewSizes): TagOverview {
  const used = all.filter(({ count }) => count > 0).sort((left, right) => right.count - left.count);
  const collections = used.filter(({ tag }) => isCollectionTag(tag));
  const others = used.filter(({ tag }) => !isCollectionTag(tag));
  return {
    collections: { tags: collections.slice(0, most.collections), total: collections.length },
    others: { tags: others.slice(0, most.others), total: others.length },
  };
}
