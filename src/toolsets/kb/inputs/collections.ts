import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { collectionOf, collectionTag, isCollectionTag, outsideCollections } from '../../../engine/collection-tag.ts';

/*
 * A document has exactly one tag that is a collection. The engine knows tags only; that they mean something is known here.
 */

export const defaultCollection = 'documents';

/** A document's tags as callers see them: the collection apart, the others in order. */
export function splitTags(tags: readonly string[]): { collection: string | null; tags: string[] } {
  const last = tags.findLast(isCollectionTag);
  return {
    collection: last === undefined ? null : collectionOf(last),
    tags: tags.filter((tag) => !isCollectionTag(tag)),
  };
}

export interface GivenTags {
  collection?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** What a caller means by `collection` and `tags`; a `collection:` tag is the same as the argument. */
export function readTags({ collection, tags = [] }: GivenTags): { collection: string | undefined; tags: string[] } {
  const named = [...(collection === undefined ? [] : [collection]), ...tags.filter(isCollectionTag).map(nameIn)];
  const [first, ...others] = new Set(named);
  if (others.length > 0) {
    throw new CarrelError(
      'invalid_arguments',
      `A document belongs to exactly one collection, and two are named here: ${[first, others[0]].join(' and ')}. Choose one.`,
    );
  }
  if (first !== undefined && !isName(first)) {
    throw new CarrelError('invalid_arguments', `collection ${nameRule}.`);
  }
  return { collection: first, tags: [...new Set(tags.filter((tag) => !isCollectionTag(tag)))] };
}

/** The tags for the engine to store: the collection first. `allowed`: those of a caller who may not use all. */
export function tagsToStore(given: GivenTags, allowed?: readonly string[]): string[] {
  const { collection = allowed?.[0] ?? defaultCollection, tags } = readTags(given);
  if (allowed?.includes(collection) === false) throw outsideCollections(allowed);
  return [collectionTag(collection), ...tags];
}

/** The tags for the engine to filter by; without a collection, all collections match. */
export function tagsToMatch(given: GivenTags): string[] | undefined {
  const { collection, tags } = readTags(given);
  const all = [...tags, ...(collection === undefined ? [] : [collectionTag(collection)])];
  return all.length === 0 ? undefined : all;
}

const nameCharsMax = 100;
const tagsMax = 50;
const nameRule = `must have 1 to ${nameCharsMax} characters, none of them a comma or a control character`;

function isName(name: string): boolean {
  return name.trim() !== '' && name.length <= nameCharsMax && !/[\p{Cc}\p{Cs},]/u.test(name);
}

function nameIn(tag: string): string {
  return isCollectionTag(tag) ? collectionOf(tag).trim() : tag;
}

// A comma separates tags on the way to the engine.
const name = z.string().trim().refine(isName, { error: nameRule });

export const collectionInput = z
  .string()
  .trim()
  .transform(nameIn)
  .pipe(z.string().refine(isName, { error: nameRule }));
export const tagListInput = z
  .array(name)
  .refine((tags) => tags.length <= tagsMax, { error: `must have at most ${tagsMax} items` });
