import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { collectionTag, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { Engine, EngineCall, EngineDocument } from '../../../engine/engine.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { collectionInput } from '../inputs/collections.ts';
import { documentIdInput, noteInput } from '../inputs/document-inputs.ts';
import { documentOutput, showDocument } from '../shapes/shapes.ts';

export function createKbUpdateNoteTool(engine: Pick<Engine, 'updateNote'>): Tool {
  return defineTool({
    name: 'kb_update_note',
    title: 'Update a note',
    description: 'Replaces the text of a note; its id, tags and collection stay. Files cannot be updated.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, text: noteInput }),
    output: documentOutput,
    run: async ({ document_id: id, text }, { signal }) => showDocument(await engine.updateNote(id, text, { signal })),
  });
}

export function createKbDeleteTool(engine: Pick<Engine, 'deleteDocument' | 'restoreDocument'>): Tool {
  return defineTool({
    name: 'kb_delete',
    title: 'Delete a document',
    description: 'Deletes a document or note from the knowledge base. Within 30 days, restore: true brings it back.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, restore: z.boolean().optional() }),
    output: looseOutput('status, document_id, title, job_id?'),
    async run({ document_id: id, restore }, { signal }) {
      return { ...(await (restore ? engine.restoreDocument(id, { signal }) : engine.deleteDocument(id, { signal }))) };
    },
  });
}

export function createKbSetCollectionTool(engine: Pick<Engine, 'documentWithoutChunks' | 'changeTags'>): Tool {
  return defineTool({
    name: 'kb_set_collection',
    title: 'Set the collection',
    description: 'Moves a document to another collection. Without collection, removes it from its current one.',
    effect: 'change',
    idempotent: true,
    input: z.object({ document_id: documentIdInput, collection: collectionInput.optional() }),
    output: documentOutput,
    run: async ({ document_id: id, collection }, { signal }) =>
      showDocument(await setCollection(engine, id, collection, { signal })),
  });
}

/**
 * Moves a document to another collection, or out of all collections.
 *
 * 1. Read its collection tags.
 * 2. Remove them and add the new one in one request. Carrel's own engine does both or neither.
 * 3. Check the result. If another engine did only a part, do the rest: first remove, then add.
 *
 * If another client changes the collection at the same time, both clients see two tags. Both then keep the alphabetically
 * first one, so that exactly one remains.
 */
export async function setCollection(
  engine: Pick<Engine, 'documentWithoutChunks' | 'changeTags'>,
  id: number,
  collection: string | undefined,
  options: EngineCall,
): Promise<EngineDocument> {
  const target = collection === undefined ? [] : [collectionTag(collection)];
  let document: EngineDocument = await engine.documentWithoutChunks(id, options);
  const oldCollections = document.tags.filter((tag) => isCollectionTag(tag) && !target.includes(tag));
  const missing = target.filter((tag) => !document.tags.includes(tag));
  if (oldCollections.length > 0 || missing.length > 0) {
    document = await engine.changeTags(id, { remove: oldCollections, add: missing }, options);
  }
  const remaining = document.tags.filter((tag) => oldCollections.includes(tag));
  if (remaining.length > 0) document = await engine.changeTags(id, { remove: remaining }, options);
  if (target.length > 0 && !document.tags.some(isCollectionTag)) {
    document = await engine.changeTags(id, { add: target }, options);
  }
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const [, ...extraCollections] = document.tags.filter(isCollectionTag).sort();
    if (extraCollections.length === 0) return document;
    document = await engine.changeTags(id, { remove: extraCollections }, options);
  }
  throw new CarrelError(
    'engine_error',
    'The engine did not set the requested collection. Check the document with kb_get and try again.',
  );
}

/** Max attempts to remove a second collection. */
const attemptsMax = 5;
