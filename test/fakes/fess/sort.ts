import type { FakeDocument } from './fake-document.ts';

export interface SortKey {
  field: string;
  descending: boolean;
}

/** Thrown for an unknown sort field. Fess answers 400, without the retry that it makes for bad query syntax. */
export class UnknownSortError extends Error {}

const sortable = new Set([
  'score',
  'filename',
  'created',
  'content_length',
  'last_modified',
  'timestamp',
  'click_count',
  'favorite_count',
]);

/** Parses a sort. The default order is ascending, even for the score: `sort=score` puts the worst hits first. */
export function parseSort(text: string): SortKey[] {
  return text.split(',').map((part) => {
    const [field = '', order = 'asc', ...rest] = part.split('.');
    if (!sortable.has(field) || (order !== 'asc' && order !== 'desc') || rest.length > 0) {
      throw new UnknownSortError(part);
    }
    return { field, descending: order === 'desc' };
  });
}

export interface Scored {
  document: FakeDocument;
  score: number;
}

export function sortHits(hits: readonly Scored[], keys: readonly SortKey[]): Scored[] {
  const order = keys.length > 0 ? keys : [{ field: 'score', descending: true }];
  return hits.toSorted((a, b) => {
    for (const key of order) {
      const [left, right] = [sortValue(a, key.field), sortValue(b, key.field)];
      const difference = left === undefined || right === undefined ? 0 : compare(left, right);
      if (difference !== 0) return key.descending ? -difference : difference;
      // Documents without the field come last in either order.
      if (left !== right) return left === undefined ? 1 : -1;
    }
    return 0;
  });
}

function sortValue({ document, score }: Scored, field: string): string | number | undefined {
  if (field === 'score') return score;
  if (field === 'content_length') return document.contentLength;
  if (field === 'click_count') return document.clickCount;
  if (field === 'favorite_count') return 0;
  if (field === 'filename') return document.filename;
  if (field === 'created') return document.created;
  return document.lastModified ?? document.created;
}

/** Compares two values in ascending order. */
export function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
