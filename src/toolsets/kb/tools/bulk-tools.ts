import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { idsHash, textHash } from '../../../base/text-hash.ts';
import { collectionTag, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { BulkOutcome, BulkSelection, Engine, EngineCall, EngineDocument } from '../../../engine/engine.ts';
import { agreedTo, askToRemove, unconfirmedIdsMax } from '../../../tools/question.ts';
import { defineTool, freeAnswer, type Tool } from '../../../tools/tool.ts';
import { collectionInput, readTags, tagListInput, tagsToMatch } from '../inputs/collections.ts';
import { docTypeInput, documentIdInput } from '../kb-parts.ts';

const idsMax = 10_000;

/** Names the conditions in tool descriptions. */
const selected =
  'the documents that match every given condition: document_ids, collection, tags (all of them), doc_type, ids from from_id to to_id';

// Empty lists are rejected, because an engine might treat them as no condition.
const selectionInput = {
  document_ids: z.array(documentIdInput).refine(isSome, { error: 'must have 1 to 10000 items' }).optional(),
  collection: collectionInput.optional(),
  tags: tagListInput.refine(isSome, { error: 'must have at least 1 item' }).optional(),
  doc_type: docTypeInput.optional(),
  from_id: documentIdInput.optional(),
  to_id: documentIdInput.optional(),
  force: z.boolean().default(false).describe('Proceed even if most documents match.'),
};

function isSome(items: readonly unknown[]): boolean {
  return items.length > 0 && items.length <= idsMax;
}

type Selecting = z.output<z.ZodObject<typeof selectionInput>>;

/** Reads the conditions, all of which must hold. Throws if there are none. */
function readSelection(input: Selecting): BulkSelection {
  const { document_ids, doc_type, from_id, to_id, force } = input;
  const tags = tagsToMatch(input);
  const named = { document_ids, tags, doc_type, from_id, to_id };
  if (Object.values(named).every((value) => value === undefined)) {
    throw new CarrelError(
      'invalid_arguments',
      'Select documents with document_ids, collection, tags, doc_type, from_id or to_id.',
    );
  }
  return { ...named, force };
}

const bulkFields = 'matched, total, changed, job_id';

const bulkOutput = freeAnswer(bulkFields);

/** Returns only the fields that tools show. */
function showBulk({ matched, total, changed, job_id }: BulkOutcome) {
  return { matched, total, changed, job_id };
}

export function createKbBulkDeleteTool(engine: Pick<Engine, 'bulkDelete' | 'documents'>): Tool {
  return defineTool({
    name: 'kb_bulk_delete',
    title: 'Delete many documents',
    description: `Deletes ${selected}. dry_run shows which. kb_delete deletes one.`,
    effect: 'change',
    input: z.object({
      ...selectionInput,
      dry_run: z.boolean().default(false).describe('Only say which documents would be deleted.'),
    }),
    output: freeAnswer(`${bulkFields}; with dry_run: dry_run, matched, total, changed, document_ids, titles`),
    async questions(input, { signal }) {
      const selection = readSelection(input);
      if (input.dry_run || (selection.document_ids?.length ?? Number.POSITIVE_INFINITY) <= unconfirmedIdsMax)
        return undefined;
      const { count, titles, hash } = await previewSelection(engine, selection, { signal });
      if (count === 0) return undefined;
      return askToRemove(['document', 'documents'], count, { samples: titles, about: hash });
    },
    async run(input, { signal, asked }) {
      const selection = readSelection(input);
      if (input.dry_run) return dryRun(engine, selection, { signal });
      const agreed = agreedTo(asked);
      const deleted = agreed === undefined ? selection : await stillChosen(engine, selection, agreed, { signal });
      return showBulk(await engine.bulkDelete(deleted, { signal }));
    },
  });
}

/** Max ids that a dry run lists. */
const idsShown = 100;

async function dryRun(engine: Pick<Engine, 'documents'>, selection: BulkSelection, options: EngineCall) {
  const { count, ids = [], titles } = await previewSelection(engine, selection, options);
  const { total } = await engine.documents({ limit: 1, offset: 0 }, options);
  return { dry_run: true, matched: count, total, changed: 0, document_ids: ids.slice(0, idsShown), titles };
}

/** Selects exactly the documents that the user confirmed. Throws if the selection has changed since. */
async function stillChosen(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  agreed: string,
  options: EngineCall,
): Promise<BulkSelection> {
  const { count, ids, hash } = await previewSelection(engine, selection, options);
  if (hash === agreed) return { ...selection, document_ids: ids ?? selection.document_ids, force: true };
  throw new CarrelError(
    'not_confirmed',
    `The selection has changed since the user was asked: it is now ${count} documents. Nothing was deleted. Repeat the call to ask again.`,
  );
}

export function createKbBulkTagsTool(engine: Pick<Engine, 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_tags',
    title: 'Tag many documents',
    description: `Adds or removes tags, or sets the collection (set_collection), of ${selected}.`,
    effect: 'change',
    idempotent: true,
    input: z.object({
      ...selectionInput,
      add: tagListInput.optional(),
      remove: tagListInput.optional(),
      set_collection: collectionInput.optional(),
    }),
    output: bulkOutput,
    async run({ add, remove = [], set_collection: named, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: named, tags: add });
      if (collection === undefined && tags.length === 0 && remove.length === 0) {
        throw new CarrelError('invalid_arguments', 'Nothing would change: give add, remove or set_collection.');
      }
      const chosen = readSelection(selection);
      if (collection === undefined) return showBulk(await engine.bulkTags(chosen, { remove, add: tags }, { signal }));
      const change = {
        remove: remove.filter((tag) => !isCollectionTag(tag)),
        add: [collectionTag(collection), ...tags],
        replaces: 'collections',
      } as const;
      return showBulk(await engine.bulkTags(chosen, change, { signal }));
    },
  });
}

export function createKbBulkSetTagsTool(engine: Pick<Engine, 'bulkSetTags' | 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_set_tags',
    title: 'Replace tags of many documents',
    description: `Replaces all tags of ${selected}. Without set_collection, collections stay.`,
    effect: 'change',
    idempotent: true,
    input: z.object({ ...selectionInput, set_tags: tagListInput, set_collection: collectionInput.optional() }),
    output: bulkOutput,
    async run({ set_tags: newTags, set_collection: named, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: named, tags: newTags });
      const chosen = readSelection(selection);
      if (collection !== undefined) {
        return showBulk(await engine.bulkSetTags(chosen, [collectionTag(collection), ...tags], { signal }));
      }
      return showBulk(await engine.bulkTags(chosen, { add: tags, replaces: 'others' }, { signal }));
    },
  });
}

const pageSize = 500;
/** Max pages of documents to examine. */
const pagesMax = 20;
const titlesMax = 3;

interface SelectionPreview {
  count: number | string;
  /** Sample titles. */
  titles: string[];
  /** Ids of the selected documents. Undefined if there are too many documents to examine. */
  ids?: number[];
  /** Changes if other documents are selected. */
  hash: string;
}

/**
 * Counts and lists the documents that a bulk operation selects. Examines documents one by one, because `documents()` can't filter
 * by id, and not every engine knows the other conditions.
 */
async function previewSelection(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  options: EngineCall,
): Promise<SelectionPreview> {
  const { tags, doc_type: type } = selection;
  const isChosen = chooses(selection);
  const found = new Map<number, string>();
  const preview = () => {
    const titles = [...found.values()].slice(0, titlesMax);
    const ids = [...found.keys()];
    return { titles, ids, hash: idsHash(ids) };
  };
  let total = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { tags, type, limit: pageSize, offset: page * pageSize };
    const listed = await engine.documents(request, options);
    for (const { id, title } of listed.documents.filter(isChosen)) found.set(id, title);
    total = listed.total;
    if ((page + 1) * pageSize >= total || listed.documents.length === 0) return { count: found.size, ...preview() };
  }
  const { titles, hash } = preview();
  // The hash covers only the documents examined. A new document changes it too, because lists start with the last change.
  return { count: `${found.size} or more`, titles, hash: textHash(`${hash} ${total}`) };
}

function chooses(selection: BulkSelection): (document: EngineDocument) => boolean {
  const { document_ids: ids, from_id: from = 0, to_id: to = Number.MAX_SAFE_INTEGER, doc_type: type } = selection;
  const wanted = ids && new Set(ids);
  return ({ id, doc_type: own, tags }) =>
    (wanted?.has(id) ?? true) &&
    id >= from &&
    id <= to &&
    (type === undefined || own === type) &&
    (selection.tags ?? []).every((tag) => tags.includes(tag));
}
