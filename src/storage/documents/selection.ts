import type { Dialect } from '../dialect.ts';
import type { Condition, ListValue, SqlValue } from '../rows.ts';
import { bothForms, storable } from '../storable.ts';
import type { DocumentSelection } from './document.ts';

/** A selection as a condition on the documents `o`. An empty one matches all. */
export function selectionCondition(selection: DocumentSelection, dialect: Dialect): Condition {
  const parts: string[] = [];
  const values: (SqlValue | ListValue)[] = [];
  const add = (sql: string, value: SqlValue | ListValue | undefined): void => {
    if (value === undefined) return;
    parts.push(sql);
    values.push(value);
  };
  add(`o.key IN (${dialect.integers})`, selection.ids && { list: selection.ids });
  for (const tag of selection.tags ?? []) {
    add(`o.key IN (SELECT t.document FROM ${dialect.schema}kb_document_tags t WHERE t.tag = ?)`, storable(tag));
  }
  add(`o.key IN (${taggedWithAny(dialect)})`, selection.anyTags && { list: selection.anyTags.map(storable) });
  add('o.doc_type = ?', selection.docType && storable(selection.docType));
  add('o.source_path = ?', selection.sourcePath && storable(selection.sourcePath));
  for (const word of selection.named ?? []) {
    const { sql, values: forms } = nameCondition(storable(word), dialect);
    parts.push(sql);
    values.push(...forms);
  }
  add('o.key >= ?', selection.fromId);
  add('o.key <= ?', selection.toId);
  return { sql: parts.length === 0 ? '1 = 1' : parts.join(' AND '), values };
}

/** The documents with at least one tag of a list. */
export function taggedWithAny({ schema, texts }: Dialect): string {
  return `SELECT t.document FROM ${schema}kb_document_tags t WHERE t.tag IN (${texts})`;
}

/** Collection tags as an index range; `;` comes after `:`. */
export const collectionRange = "(tag >= 'collection:' AND tag < 'collection;')";

export function isCollection(tag: string): boolean {
  return tag.startsWith('collection:');
}

/** All other tags. */
export const otherRanges = ["tag < 'collection:'", "tag >= 'collection;'"];

/** How passages refer to their document. */
export function parentOf(document: number): string {
  return String(document);
}

/** The label that searches filter by. */
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
 * SQLite lower-cases ASCII only, so other text is compared as written, in lower and upper case, and capitalised. Accents may be
 * composed or decomposed: file systems differ.
 */
function nameCondition(word: string, dialect: Dialect): Condition {
  const lower = word.toLowerCase();
  const spellings = bothForms([lower, word, word.toUpperCase(), capitalised(lower)]);
  const values: string[] = [];
  const within = (text: string, form: string): string => {
    values.push(form);
    return `${dialect.position(text, '?')} > 0`;
  };
  const parts = ['o.title', 'o.source_path'].flatMap((column) => [
    ...bothForms([lower]).map((form) => within(`lower(${column})`, form)),
    ...(isAscii(word) ? [] : spellings.map((form) => within(column, form))),
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
