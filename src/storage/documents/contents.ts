import type { Dialect, Statements } from '../dialect.ts';
import { type Condition, numberOf, optionalTextOf, textOf } from '../rows.ts';
import { isUnfinished } from '../schema/document-tables.ts';
import { storable } from '../storable.ts';
import { tagsOf } from './document.ts';

/** Limits a request to documents with at least one of these tags. If undefined, the caller may see all documents. */
export interface Scope {
  readonly anyTags?: readonly string[] | undefined;
}

/** Returns true if the caller may see a document with these tags. */
export function isVisible(tags: readonly string[], { anyTags }: Scope): boolean {
  return anyTags === undefined || anyTags.some((tag) => tags.includes(storable(tag)));
}

/** Returns the SQL condition for rows that the caller may see. Their column `tags` contains a JSON array. */
export function visibleRows({ anyTags }: Scope, { elements, texts }: Dialect): Condition[] {
  if (anyTags === undefined) return [];
  const sql = `EXISTS (SELECT 1 FROM ${elements('tags')} WHERE element.value IN (${texts}))`;
  return [{ sql, values: [{ list: anyTags.map(storable) }] }];
}

/** A document or unfinished job that has a certain content. */
export interface ContentHolder {
  readonly document?: number;
  readonly job?: number;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * True if its submitter could not see that the content was already stored. At most one holder of a content is not a copy.
   */
  readonly isCopy: boolean;
}

export async function contentHolders(on: Statements, hash: string): Promise<ContentHolder[]> {
  const documents = await on.query(
    'SELECT key, title, details, is_copy FROM kb_documents WHERE content_hash = ? ORDER BY key',
    [hash],
  );
  const tags = await tagsOf(
    on,
    documents.map((row) => numberOf(row, 'key')),
  );
  const jobs = await on.query(
    `SELECT key, title, filename, tags, is_copy FROM kb_jobs WHERE content_hash = ? AND ${isUnfinished} ORDER BY key`,
    [hash],
  );
  return [
    ...documents.map((row) => ({
      document: numberOf(row, 'key'),
      title: textOf(row, 'title'),
      tags: tags.get(numberOf(row, 'key')) ?? [],
      details: JSON.parse(textOf(row, 'details')),
      isCopy: row['is_copy'] !== null,
    })),
    ...jobs.map((row) => ({
      job: numberOf(row, 'key'),
      title: optionalTextOf(row, 'title') ?? optionalTextOf(row, 'filename'),
      tags: JSON.parse(textOf(row, 'tags')),
      details: {},
      isCopy: row['is_copy'] !== null,
    })),
  ];
}
