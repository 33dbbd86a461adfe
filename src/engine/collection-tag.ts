import { CarrelError } from '../base/errors.ts';

/* A collection is a tag with a prefix: tools and rights name collections, the engine stores tags. */

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

/** For a caller who may use only these, and names another one or none. Whether there is another one is not told. */
export function outsideCollections(collections: readonly string[]): CarrelError {
  const names = collections.map((name) => JSON.stringify(name)).join(', ');
  return new CarrelError('outside_rights', `With this token documents can only be in the collections ${names}.`);
}
