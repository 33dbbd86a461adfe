import type { Dialect } from '../dialect.ts';
import type { ListValue, SqlFragment, SqlValue } from '../rows.ts';
import { allOf } from '../statements.ts';
import { bothForms, storable } from '../storable.ts';

/** Limits a request to documents with at least one of these tags. If undefined, the caller may see all documents. */
export interface Scope {
  readonly anyTags?: readonly string[] | undefined;
}

/** Returns true if the caller may see a document with these tags. */
export function isVisible(tags: readonly string[], { anyTags }: Scope): boolean {
  return anyTags === undefined || anyTags.some((tag) => tags.includes(storable(tag)));
}

/** Returns the SQL condition for rows that the caller may see. Their column `tags` contains a JSON array. */
export function visibleRows({ anyTags }: Scope, { elements, texts }: Dialect): SqlFragment[] {
  if (anyTags === undefined) return [];
  const sql = `EXISTS (SELECT 1 FROM ${elements('tags')} WHERE element.value IN (${texts}))`;
  return [{ sql, values: [{ list: anyTags.map(storable) }] }];
}

/** Selects the documents that meet all of the conditions that are set. */
export interface DocumentSelection extends Scope {
  readonly ids?: readonly number[] | undefined;
  /** The document must have all these tags. */
  readonly tags?: readonly string[] | undefined;
  readonly docType?: string | undefined;
  readonly sourcePath?: string | undefined;
  /** Each of these texts must occur in the title or the source path, in upper or lower case. */
  readonly named?: readonly string[] | undefined;
  /** Range of ids. Both ends are included. */
  readonly fromId?: number | undefined;
  readonly toId?: number | undefined;
}

/** Returns a selection as a condition on the documents `o`. An empty selection matches all. */
export function selectionCondition(selection: DocumentSelection, dialect: Dialect): SqlFragment {
  const condition = (sql: string, value: SqlValue | ListValue | undefined): SqlFragment[] =>
    value === undefined ? [] : [{ sql, values: [value] }];
  const tagged = `o.key IN (SELECT t.document FROM kb_document_tags t WHERE t.tag = ?)`;
  return allOf([
    ...condition(`o.key IN (${dialect.integers})`, selection.ids && { list: selection.ids }),
    ...(selection.tags ?? []).map((tag) => ({ sql: tagged, values: [storable(tag)] })),
    ...taggedWithAny('o.key', selection, dialect),
    ...condition('o.doc_type = ?', selection.docType && storable(selection.docType)),
    ...condition('o.source_path = ?', selection.sourcePath && storable(selection.sourcePath)),
    ...(selection.named ?? []).map((word) => nameCondition(storable(word), dialect)),
    ...condition('o.key >= ?', selection.fromId),
    ...condition('o.key <= ?', selection.toId),
  ]);
}

/** Returns the SQL condition for documents that the caller may see. `id` is SQL for the document's id. */
export function taggedWithAny(id: string, { anyTags }: Scope, { texts }: Dialect): SqlFragment[] {
  if (anyTags === undefined) return [];
  const sql = `${id} IN (SELECT t.document FROM kb_document_tags t WHERE t.tag IN (${texts}))`;
  return [{ sql, values: [{ list: anyTags.map(storable) }] }];
}

/** SQL condition for collection tags, as a range that can use the index. The character after `:` is `;`. */
export const collectionRange = "(tag >= 'collection:' AND tag < 'collection;')";

export function isCollection(tag: string): boolean {
  return tag.startsWith('collection:');
}

/** Returns the value of `parent` in the passages of a document. */
export function parentOf(document: number): string {
  return String(document);
}

/** Returns the label by which searches filter for a tag. */
export function tagLabel(tag: string): string {
  return `tag:${tag}`;
}

export function typeLabel(docType: string): string {
  return `type:${docType}`;
}

export function labelsOf(docType: string, tags: readonly string[]): string[] {
  return [typeLabel(docType), ...tags.map(tagLabel)];
}

/**
 * Returns the condition for documents whose title or path contains the word, in upper or lower case. SQLite's `lower` converts only
 * ASCII, so other words are compared in four spellings. Accents may be composed or decomposed, because file systems differ.
 */
function nameCondition(word: string, dialect: Dialect): SqlFragment {
  const lower = word.toLowerCase();
  const spellings = bothForms([lower, word, word.toUpperCase(), capitalised(lower)]);
  const values: string[] = [];
  const contains = (text: string, form: string): string => {
    values.push(form);
    return `${dialect.position(text, '?')} > 0`;
  };
  const parts = ['o.title', 'o.source_path'].flatMap((column) => [
    ...bothForms([lower]).map((form) => contains(`lower(${column})`, form)),
    ...(isAscii(word) ? [] : spellings.map((form) => contains(column, form))),
  ]);
  return { sql: `(${parts.join(' OR ')})`, values };
}

function capitalised(word: string): string {
  const [first = '', ...others] = word;
  return `${first.toUpperCase()}${others.join('')}`;
}

function isAscii(text: string): boolean {
  return [...text].every((character) => character < '\u0080');
}
