import { CarrelError } from '../../base/errors.ts';
import type { Engine, EngineCall, EngineDocument, TagChange } from '../../engine/engine.ts';
import { collectionTag, isCollectionTag } from './collections.ts';

/**
 * Makes a document belong to one collection, or to none.
 *
 * 1. Look which collection tags it has.
 * 2. Ask for the old ones to be removed and the new one to be added, in one request: an engine of ours does both or neither.
 * 3. Look at what came of it. Another engine may carry out only a part, and another client may have set a collection at
 *    the same time: what is still wrong is then asked for again, removal first.
 */
export async function setCollection(
  engine: Pick<Engine, 'document' | 'changeTags'>,
  id: number,
  collection: string | undefined,
  options: EngineCall,
): Promise<EngineDocument> {
  let document: EngineDocument = await engine.document(id, options);
  for (let round = 0; round < roundsMax; round += 1) {
    const { remove, add } = changeNeeded(document.tags, collection);
    if (remove.length === 0 && add.length === 0) return document;
    if (round === 0) {
      document = await engine.changeTags(id, withoutEmpty({ remove, add }), options);
    } else {
      if (remove.length > 0) document = await engine.changeTags(id, { remove }, options);
      if (add.length > 0) document = await engine.changeTags(id, { add }, options);
    }
  }
  if (isRight(document, collection)) return document;
  throw new CarrelError(
    'engine_error',
    'The engine did not set the collection as asked. Look at the document with kb_get and try again.',
  );
}

const roundsMax = 3;

function changeNeeded(tags: readonly string[], collection: string | undefined): { remove: string[]; add: string[] } {
  const wanted = collection === undefined ? undefined : collectionTag(collection);
  return {
    remove: tags.filter((tag) => isCollectionTag(tag) && tag !== wanted),
    add: wanted === undefined || tags.includes(wanted) ? [] : [wanted],
  };
}

function isRight(document: EngineDocument, collection: string | undefined): boolean {
  const { remove, add } = changeNeeded(document.tags, collection);
  return remove.length === 0 && add.length === 0;
}

function withoutEmpty({ remove, add }: { remove: string[]; add: string[] }): TagChange {
  return { ...(remove.length === 0 ? {} : { remove }), ...(add.length === 0 ? {} : { add }) };
}
