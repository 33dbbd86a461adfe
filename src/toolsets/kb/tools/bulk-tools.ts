import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { idsHash, textHash } from '../../../base/text-hash.ts';
import { collectionTag, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { BulkOutcome, BulkSelection, Engine, EngineCall, EngineDocument } from '../../../engine/engine.ts';
import { askToRemove, requireConfirmation, unconfirmedIdsMax } from '../../../tools/question.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { collectionInput, readTags, tagListInput, tagsToMatch } from '../inputs/collections.ts';
import { docTypeInput, documentIdInput } from '../inputs/document-inputs.ts';

/** Names the affected documents in tool descriptions. */
const selectionText =
  'the documents that match every given condition: document_ids, collection, tags (all of them), doc_type, from_id and to_id (inclusive range of ids)';

const idsMax = 10_000;
const hasAllowedLength = (items: readonly unknown[]): boolean => items.length > 0 && items.length <= idsMax;

// Rejects empty lists, because an engine might ignore them and select all documents.
const selectionInput = {
  document_ids: z
    .array(documentIdInput)
    .refine(hasAllowedLength, { error: `must have 1 to ${idsMax} items` })
    .optional(),
  collection: collectionInput.optional(),
  tags: tagListInput.refine(hasAllowedLength, { error: 'must have at least 1 item' }).optional(),
  doc_type: docTypeInput.optional(),
  from_id: documentIdInput.optional(),
  to_id: documentIdInput.optional(),
  force: z.boolean().default(false).describe('Proceed even if most documents match.'),
};

/** Converts the arguments to a selection. Throws if there is no condition. */
function readSelection(input: z.output<z.ZodObject<typeof selectionInput>>): BulkSelection {
  const { document_ids, doc_type, from_id, to_id, force } = input;
  const conditions = { document_ids, tags: tagsToMatch(input), doc_type, from_id, to_id };
  if (Object.values(conditions).every((value) => value === undefined)) {
    throw new CarrelError(
      'invalid_arguments',
      'Select documents with document_ids, collection, tags, doc_type, from_id or to_id.',
    );
  }
  return { ...conditions, force };
}

const outcomeFields = 'matched, total, changed, job_id';

/** Returns only these fields, because an engine may send more. */
function showOutcome({ matched, total, changed, job_id }: BulkOutcome) {
  return { matched, total, changed, job_id };
}

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: `Deletes ${selectionText}. dry_run shows which. kb_delete deletes one.`,
    effect: 'change',
    input: z.object({
      ...selectionInput,
      dry_run: z.boolean().default(false).describe('Only report which documents would be deleted.'),
    }),
    output: looseOutput(`${outcomeFields}; with dry_run: dry_run, matched, total, changed, document_ids, titles`),
    async questions(input, { signal }) {
      const selection = readSelection(input);
      if (input.dry_run || (selection.document_ids?.length ?? Number.POSITIVE_INFINITY) <= unconfirmedIdsMax)
        return undefined;
      const { count, titles, hash } = await previewSelection(engine, selection, { signal });
      if (count === 0) return undefined;
      return askToRemove(['document', 'documents'], count, { samples: titles, about: hash });
    },
    async run(input, { signal, answered }) {
      const selection = readSelection(input);
      if (input.dry_run) return dryRun(engine, selection, { signal });
      const confirmedHash = requireConfirmation(answered);
      const confirmed =
        confirmedHash === undefined ? selection : await checkUnchanged(engine, selection, confirmedHash, { signal });
      return showOutcome(await engine.bulkDelete(confirmed, { signal }));
    },
  });
}

/** Max ids that a dry run lists. */
const shownIdsMax = 100;

async function dryRun(engine: Pick<Engine, 'documents'>, selection: BulkSelection, options: EngineCall) {
  const { count, ids = [], titles } = await previewSelection(engine, selection, options);
  const { total } = await engine.documents({ limit: 1, offset: 0 }, options);
  return { dry_run: true, matched: count, total, changed: 0, document_ids: ids.slice(0, shownIdsMax), titles };
}

/** Returns a selection of exactly the documents that the user confirmed. Throws if the selection has changed since. */
async function checkUnchanged(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  confirmedHash: string,
  options: EngineCall,
): Promise<BulkSelection> {
  const { count, ids, hash } = await previewSelection(engine, selection, options);
  if (hash === confirmedHash) return { ...selection, document_ids: ids ?? selection.document_ids, force: true };
  throw new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is now ${count} documents. Nothing was deleted. Repeat the call to ask again.`,
  );
}

export function createKbBulkTagsTool(engine: Pick<Engine, 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_tags',
    title: 'Tag many documents',
    description: `Changes the tags (add, remove) or the collection (set_collection) of ${selectionText}.`,
    effect: 'change',
    idempotent: true,
    input: z.object({
      ...selectionInput,
      add: tagListInput.optional(),
      remove: tagListInput.optional(),
      set_collection: collectionInput.optional(),
    }),
    output: looseOutput(outcomeFields),
    async run({ add, remove = [], set_collection: newCollection, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: newCollection, tags: add });
      if (collection === undefined && tags.length === 0 && remove.length === 0) {
        throw new CarrelError('invalid_arguments', 'Nothing would change: give add, remove or set_collection.');
      }
      const documents = readSelection(selection);
      if (collection === undefined)
        return showOutcome(await engine.bulkTags(documents, { remove, add: tags }, { signal }));
      const change = {
        remove: remove.filter((tag) => !isCollectionTag(tag)),
        add: [collectionTag(collection), ...tags],
        replaces: 'collections',
      } as const;
      return showOutcome(await engine.bulkTags(documents, change, { signal }));
    },
  });
}

export function createKbBulkSetTagsTool(engine: Pick<Engine, 'bulkSetTags' | 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_set_tags',
    title: 'Replace tags of many documents',
    description: `Replaces all tags of ${selectionText}. Without set_collection, collections stay.`,
    effect: 'change',
    idempotent: true,
    input: z.object({ ...selectionInput, set_tags: tagListInput, set_collection: collectionInput.optional() }),
    output: looseOutput(outcomeFields),
    async run({ set_tags: newTags, set_collection: newCollection, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: newCollection, tags: newTags });
      const documents = readSelection(selection);
      if (collection !== undefined) {
        return showOutcome(await engine.bulkSetTags(documents, [collectionTag(collection), ...tags], { signal }));
      }
      return showOutcome(await engine.bulkTags(documents, { add: tags, replaces: 'non_collections' }, { signal }));
    },
  });
}

const pageSize = 500;
/** Max pages of documents to examine. */
const pagesMax = 20;
const titlesMax = 3;

/**
 * Counts and lists the documents that a bulk operation selects. Examines documents one by one, because `documents()`
 * can't filter by id, and not every engine supports the other conditions. `hash` changes if the selection changes.
 */
async function previewSelection(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  options: EngineCall,
): Promise<{ count: number | string; titles: string[]; ids?: number[]; hash: string }> {
  const { tags, doc_type: type } = selection;
  const isSelected = createPredicate(selection);
  const titlesById = new Map<number, string>();
  let total = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { tags, type, limit: pageSize, offset: page * pageSize };
    const listed = await engine.documents(request, options);
    for (const { id, title } of listed.documents.filter(isSelected)) titlesById.set(id, title);
    total = listed.total;
    if ((page + 1) * pageSize < total && listed.documents.length > 0) continue;
    const ids = [...titlesById.keys()];
    return { count: titlesById.size, titles: sampleTitles(), ids, hash: idsHash(ids) };
  }
  // Not all documents were examined. With the total, the hash still changes when a document is added.
  const hash = textHash(`${idsHash([...titlesById.keys()])} ${total}`);
  return { count: `${titlesById.size} or more`, titles: sampleTitles(), hash };

  function sampleTitles(): string[] {
    return [...titlesById.values()].slice(0, titlesMax);
  }
}

function createPredicate(selection: BulkSelection): (document: EngineDocument) => boolean {
  const { from_id: from = 0, to_id: to = Number.MAX_SAFE_INTEGER, doc_type: type, tags: required = [] } = selection;
  const ids = selection.document_ids && new Set(selection.document_ids);
  return ({ id, doc_type, tags }) =>
    (ids?.has(id) ?? true) &&
    id >= from &&
    id <= to &&
    (type === undefined || doc_type === type) &&
    required.every((tag) => tags.includes(tag));
}
