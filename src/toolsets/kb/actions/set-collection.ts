import { CarrelError } from '../../../base/errors.ts';
import { collectionTag, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { Engine, EngineCall, EngineDocument } from '../../../engine/engine.ts';

/**
 * Moves a document to another collection, or out of all collections.
 *
 * 1. Read its collection tags.
 * 2. Remove them and add the new one in one request. Carrel's own engine does both or neither.
 * 3. Check the result. If another engine did only a part, do the rest: first remove, then add.
 *
 * Another client may change the collection between 1 and 2. Then both clients see two tags, and both keep the alphabetically
 * first one. If each kept its own, two tags or none would remain.
 */
export async function setCollection(
  engine: Pick<Engine, 'documentAlone' | 'changeTags'>,
  id: number,
  collection: string | undefined,
  options: EngineCall,
): Promise<EngineDocument> {
  const wanted = collection === undefined ? [] : [collectionTag(collection)];
  let document: EngineDocument = await engine.documentAlone(id, options);
  const old = document.tags.filter((tag) => isCollectionTag(tag) && !wanted.includes(tag));
  const missing = wanted.filter((tag) => !document.tags.includes(tag));
  if (old.length > 0 || missing.length > 0) {
    document = await engine.changeTags(id, { remove: old, add: missing }, options);
  }
  const left = document.tags.filter((tag) => old.includes(tag));
  if (left.length > 0) document = await engine.changeTags(id, { remove: left }, options);
  if (wanted.length > 0 && !document.tags.some(isCollectionTag)) {
    document = await engine.changeTags(id, { add: wanted }, options);
  }
  for (let round = 0; round < roundsMax; round += 1) {
    const [, ...others] = document.tags.filter(isCollectionTag).sort();
    if (others.length === 0) return document;
    document = await engine.changeTags(id, { remove: others }, options);
  }
  throw new CarrelError(
    'engine_error',
    'The engine did not set the requested collection. Check the document with kb_get and try again.',
  );
}

/** Max attempts to remove a second collection. Each client that interferes costs one. */
const roundsMax = 5;
