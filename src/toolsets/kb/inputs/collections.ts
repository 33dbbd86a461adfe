import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { collectionOf, collectionTag, isCollectionTag, outsideCollections } from '../../../engine/collection-tag.ts';

/* A document's collection is stored as a tag, because the engine only supports tags. */

export const defaultCollection = 'documents';

/** Separates the collection from the other tags. */
export function splitTags(tags: readonly string[]): { collection: string | null; tags: string[] } {
  const last = tags.findLast(isCollectionTag);
  return {
    collection: last === undefined ? null : collectionOf(last),
    tags: tags.filter((tag) => !isCollectionTag(tag)),
  };
}

interface TagArguments {
  collection?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** Reads `collection` and `tags`. A tag `collection:…` means the same as the argument `collection`. */
export function readTags({ collection, tags = [] }: TagArguments): { collection: string | undefined; tags: string[] } {
  const names = [
    ...(collection === undefined ? [] : [collection]),
    ...tags.filter(isCollectionTag).map(collectionNameOf),
  ];
  const [first, ...otherNames] = new Set(names);
  if (otherNames.length > 0) {
    throw new CarrelError(
      'invalid_arguments',
      `A document belongs to exactly one collection, but two are named: ${[first, otherNames[0]].join(' and ')}. Choose one.`,
    );
  }
  if (first !== undefined && !isName(first)) {
    throw new CarrelError('invalid_arguments', `collection ${nameRule}.`);
  }
  return { collection: first, tags: [...new Set(tags.filter((tag) => !isCollectionTag(tag)))] };
}

/** Returns the tags to store, starting with the collection's. `allowedCollections` is set for a restricted caller. */
export function tagsToStore(tagArguments: TagArguments, allowedCollections?: readonly string[]): string[] {
  const { collection = allowedCollections?.[0] ?? defaultCollection, tags } = readTags(tagArguments);
  if (allowedCollections?.includes(collection) === false) throw outsideCollections(allowedCollections);
  return [collectionTag(collection), ...tags];
}

/** Returns the tags to filter by. Without a collection, documents of all collections match. */
export function tagsToMatch(tagArguments: TagArguments): string[] | undefined {
  const { collection, tags } = readTags(tagArguments);
  const all = [...tags, ...(collection === undefined ? [] : [collectionTag(collection)])];
  return all.length === 0 ? undefined : all;
}

const nameCharsMax = 100;
const tagsMax = 50;
const nameRule = `must have 1 to ${nameCharsMax} characters, none of them a comma or a control character`;

function isName(name: string): boolean {
  return name.trim() !== '' && name.length <= nameCharsMax && !/[\p{Cc}\p{Cs},]/u.test(name);
}

function collectionNameOf(tag: string): string {
  return isCollectionTag(tag) ? collectionOf(tag).trim() : tag;
}

// Names have no commas, because requests to an engine separate tags with commas.
const name = z.string().trim().refine(isName, { error: nameRule });

export const collectionInput = z
  .string()
  .trim()
  .transform(collectionNameOf)
  .pipe(z.string().refine(isName, { error: nameRule }));
export const tagListInput = z
  .array(name)
  .refine((tags) => tags.length <= tagsMax, { error: `must have at most ${tagsMax} items` });
