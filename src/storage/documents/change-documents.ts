import type { Statements } from '../dialect.ts';
import { batchesOf, numberOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { storeDeleted } from './deleted-documents.ts';
import { documentsById, insertTags, type StoredDocument } from './document.ts';
import { recordChange } from './jobs.ts';
import { countDocuments } from './read-documents.ts';
import { type DocumentSelection, isCollection, labelsOf, type Scope, selectionCondition } from './selection.ts';
import { relabelPassages, removePassages } from './write-chunks.ts';

/** Deletes a document. With `restorable`, it can be restored. */
export async function removeDocument(
  db: Statements,
  { id, restorable = false }: { id: number; restorable?: boolean },
): Promise<Pick<StoredDocument, 'id' | 'title' | 'contentHash'> | undefined> {
  const [document] = await documentsById(db, [id], db.dialect.forUpdate);
  if (document === undefined) return undefined;
  await removeAll(db, [document], restorable);
  await recordChange(db, { kind: 'delete', document, chunkCount: document.chunkCount, details: {} });
  const { title, contentHash } = document;
  return { id, title, contentHash };
}

interface TagsRequest {
  readonly id: number;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Max tags per document. If a change would exceed it, no tag is changed. */
  readonly tagsMax: number;
}

/** Removes the tags in `remove`, then adds those in `add`. */
export async function changeTags(
  db: Statements,
  { id, add, remove, tagsMax }: TagsRequest,
): Promise<StoredDocument | 'tags_full' | undefined> {
  const [document] = await documentsById(db, [id], db.dialect.forUpdate);
  if (document === undefined) return undefined;
  const tags = changedTags(document.tags, { kind: 'tags', add, remove });
  if (tags.length > tagsMax) return 'tags_full';
  if (!isSameList(tags, document.tags)) await writeTags(db, document, tags);
  await recordChange(db, { kind: 'tags', document, details: { add, remove } });
  const [changed] = await documentsById(db, [id]);
  return changed;
}

interface MoveRequest {
  readonly id: number;
  readonly sourcePath: string;
  /** Also becomes the title if the title is still the old file name. */
  readonly filename: string;
}

/**
 * Changes the source path and the file name at its end, not the content. If the title changes too, searches use the old title
 * until the text changes: indexing the new title would require embedding the text again.
 */
export async function moveDocument(
  db: Statements,
  { id, sourcePath, filename }: MoveRequest,
): Promise<StoredDocument | undefined> {
  const [document] = await documentsById(db, [id], db.dialect.forUpdate);
  if (document === undefined) return undefined;
  const title = document.title === document.filename ? filename : document.title;
  await db.query('UPDATE kb_documents SET source_path = ?, filename = ?, title = ?, updated_at = ? WHERE key = ?', [
    storable(sourcePath),
    storable(filename),
    storable(title),
    db.now,
    id,
  ]);
  await recordChange(db, { kind: 'move', document, details: { source_path: sourcePath } });
  const [moved] = await documentsById(db, [id]);
  return moved;
}

export type BulkAction =
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'tags';
      readonly add: readonly string[];
      readonly remove: readonly string[];
      /** Also removes all other collections (only those in `anyTags`, if set), or all tags that are not collections. */
      readonly replaces?: 'collections' | 'non_collections' | undefined;
    }
  | { readonly kind: 'set_tags'; readonly tags: readonly string[] };

export interface BulkRequest {
  /** With `anyTags`, `percentMax` refers only to documents that have one of these tags. */
  readonly selection: DocumentSelection;
  readonly action: BulkAction;
  /** Max share of all documents that may be changed, from 0 to 100. A larger selection is rejected. */
  readonly percentMax: number;
  readonly tagsMax: number;
  /** True if deleted documents can be restored. */
  readonly restorable?: boolean;
}

type BulkChange =
  | (ChangeResult & {
      readonly outcome: 'changed';
      readonly matched: number;
      readonly total: number;
      readonly jobId: number;
    })
  | { readonly outcome: 'too_many'; readonly matched: number; readonly total: number; readonly percent: number }
  | { readonly outcome: 'tags_full'; readonly id: number };

/** Documents changed per batch, because a selection may contain every document. */
const batchSize = 500;

export async function changeDocuments(
  db: Statements,
  { selection, action, percentMax, tagsMax, restorable = false }: BulkRequest,
): Promise<BulkChange> {
  const ids = await lockIds(db, selection);
  const matched = ids.length;
  const { documents: total } = await countDocuments(db, selection);
  const percent = total === 0 ? 0 : (100 * matched) / total;
  if (percent > percentMax) return { outcome: 'too_many', matched, total, percent };
  const { anyTags } = selection;
  const full = action.kind === 'delete' ? undefined : await firstOverTagLimit(db, ids, { action, anyTags }, tagsMax);
  if (full !== undefined) return { outcome: 'tags_full', id: full };
  const { changed, contentHashes } =
    action.kind === 'delete' ? await removeMany(db, ids, restorable) : await tagMany(db, ids, { action, anyTags });
  const { kind, ...change } = action;
  const details = { ...change, selection, matched, changed };
  // The record gets these tags, so that callers who may see only these tags can find it.
  const jobId = await recordChange(db, {
    kind: `bulk_${kind}`,
    details,
    ...(anyTags ? { tags: anyTags } : {}),
  });
  return { outcome: 'changed', matched, total, changed, jobId, contentHashes };
}

type TagAction = Exclude<BulkAction, { kind: 'delete' }>;

interface TagChange extends Scope {
  readonly action: TagAction;
}

interface ChangeResult {
  readonly changed: number;
  /** Content hashes of the deleted documents. */
  readonly contentHashes: readonly string[];
}

async function removeMany(db: Statements, ids: readonly number[], restorable: boolean): Promise<ChangeResult> {
  const contentHashes: string[] = [];
  for await (const documents of inBatches(db, ids)) {
    await removeAll(db, documents, restorable);
    contentHashes.push(...documents.map(({ contentHash }) => contentHash));
  }
  return { changed: ids.length, contentHashes };
}

async function tagMany(db: Statements, ids: readonly number[], change: TagChange): Promise<ChangeResult> {
  let changed = 0;
  for await (const documents of inBatches(db, ids)) {
    const changes = changesOf(documents, change);
    for (const { document, tags } of changes) await writeTags(db, document, tags);
    changed += changes.length;
  }
  return { changed, contentHashes: [] };
}

/** Returns the first document that would have too many tags. Call it before any tag is changed. */
async function firstOverTagLimit(
  db: Statements,
  ids: readonly number[],
  change: TagChange,
  tagsMax: number,
): Promise<number | undefined> {
  for await (const documents of inBatches(db, ids)) {
    const full = changesOf(documents, change).find(({ tags }) => tags.length > tagsMax);
    if (full !== undefined) return full.document.id;
  }
  return undefined;
}

function changesOf(documents: readonly StoredDocument[], { action, anyTags }: TagChange) {
  return documents
    .map((document) => ({ document, tags: changedTags(document.tags, action, anyTags) }))
    .filter(({ document, tags }) => !isSameList(tags, document.tags));
}

/** Locks the selected documents until the transaction ends. Returns their ids. */
async function lockIds(db: Statements, selection: DocumentSelection): Promise<number[]> {
  const { sql, values } = selectionCondition(selection, db.dialect);
  const rows = await db.query(
    `SELECT o.key FROM kb_documents o WHERE ${sql} ORDER BY o.key ${db.dialect.forUpdate}`,
    values,
  );
  return rows.map((row) => numberOf(row, 'key'));
}

async function* inBatches(db: Statements, ids: readonly number[]): AsyncGenerator<StoredDocument[]> {
  for (const batch of batchesOf(ids, batchSize)) yield await documentsById(db, batch);
}

async function removeAll(db: Statements, documents: readonly StoredDocument[], restorable: boolean): Promise<void> {
  if (restorable) await storeDeleted(db, documents);
  const ids = documents.map(({ id }) => id);
  await removePassages(db, ids);
  await db.query(`DELETE FROM kb_documents WHERE key IN (${db.dialect.integers})`, [{ list: ids }]);
}

async function writeTags(db: Statements, { id, docType }: StoredDocument, tags: readonly string[]): Promise<void> {
  await db.query('DELETE FROM kb_document_tags WHERE document = ?', [id]);
  await insertTags(db, id, tags);
  await db.query('UPDATE kb_documents SET updated_at = ? WHERE key = ?', [db.now, id]);
  await relabelPassages(db, id, labelsOf(docType, tags));
}

function changedTags(before: readonly string[], action: TagAction, anyTags?: readonly string[]): string[] {
  if (action.kind === 'set_tags') {
    // Keeps collections that the caller may not see.
    const hidden = before.filter((tag) => isCollection(tag) && !isIncluded(tag, anyTags));
    return [...new Set([...hidden, ...action.tags.map(storable)])];
  }
  const [removed, added] = [new Set(action.remove.map(storable)), action.add.map(storable)];
  const isReplaced = (tag: string): boolean =>
    isCollection(tag)
      ? action.replaces === 'collections' && isIncluded(tag, anyTags)
      : action.replaces === 'non_collections';
  return [
    ...new Set([...before.filter((tag) => !removed.has(tag) && (!isReplaced(tag) || added.includes(tag))), ...added]),
  ];
}

function isIncluded(tag: string, tags: readonly string[] | undefined): boolean {
  return tags === undefined || tags.map(storable).includes(tag);
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((tag, index) => tag === right[index]);
}
