import { CarrelError } from '../base/errors.ts';

/** A collection is a tag with a prefix. Tools and rights use the collection's name; the engine stores the tag. */

const prefix = 'collection:';

export function collectionTag(name: string): string {
  return `${prefix}${name}`;
}

export function isCollectionTag(tag: string): boolean {
  return tag.startsWith(prefix);
}

export function collectionOf(tag: string): string {
  return tag.slice(prefix.length);
}

/** Creates the error for a restricted caller that names no collection, or one of others. It lists only the caller's own. */
export function outsideCollections(collections: readonly string[]): CarrelError {
  const names = collections.map((name) => JSON.stringify(name)).join(', ');
  return new CarrelError(
    'outside_rights',
    `With this token, documents can only be in the collections ${names}. Name one of them.`,
  );
}
