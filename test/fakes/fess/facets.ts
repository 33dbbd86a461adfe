import { createHash } from 'node:crypto';
import { type FakeDocument, fieldValues } from './fake-document.ts';
import { matches } from './lucene/evaluate.ts';
import { QuerySyntaxError } from './lucene/lexer.ts';
import { type Operator, parseQuery } from './lucene/parser.ts';
import { compare } from './sort.ts';

export interface FacetAnswer {
  fields: { name: string; result: { value: string; count: number }[] }[];
  queries: { value: string; count: number }[];
}

/** Thrown for a facet that Fess can't compute. Fess 15.4 swallows the error and returns an empty result. */
export class FacetFieldError extends Error {}

const facetable = new Set([
  'url',
  'host',
  'title',
  'content',
  'content_length',
  'last_modified',
  'timestamp',
  'mimetype',
  'filetype',
  'label',
  'segment',
]);

export interface FacetScope {
  /** The hits of the search. */
  found: readonly FakeDocument[];
  /** Every document of the index, regardless of rights: with `minDocCount` 0, the engine lists values of all of them. */
  indexed: readonly FakeDocument[];
  /** True if the server always lists values without documents. */
  listsEmptyBuckets: boolean;
}

export function facets(
  { found, indexed, listsEmptyBuckets }: FacetScope,
  params: URLSearchParams,
  operator: Operator,
): FacetAnswer | undefined {
  const fields = inHashOrder(params.getAll('facet.field'));
  const queries = inHashOrder(params.getAll('facet.query'));
  if (fields.length === 0 && queries.length === 0) return undefined;
  const size = parseCount(params.get('facet.size'), 10);
  const minDocCount = listsEmptyBuckets ? 0 : parseCount(params.get('facet.minDocCount'), 1);
  return {
    fields: fields.map((name) => {
      const counts = count(found, name, params.get('facet.missing'));
      for (const value of minDocCount === 0 ? valuesOf(indexed, name) : [])
        if (!counts.has(value)) counts.set(value, 0);
      const buckets = order(
        [...counts].map(([value, count]) => ({ value, count })),
        params.get('facet.sort'),
      );
      return { name, result: buckets.filter((bucket) => bucket.count >= minDocCount).slice(0, size) };
    }),
    queries: queries.map((value) => {
      const query = parseQuery(value, operator);
      return { value, count: found.filter((document) => matches(query, document)).length };
    }),
  };
}

/** Orders facet queries as the engine does, which names each by a hash of its text. Duplicates are an error. */
function inHashOrder(requested: readonly string[]): string[] {
  if (new Set(requested).size < requested.length) throw new FacetFieldError('two aggregations of one name');
  const hashOf = (text: string): string => createHash('md5').update(text).digest('hex');
  return requested.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
}

type Bucket = FacetAnswer['queries'][number];

function valuesOf(documents: readonly FakeDocument[], field: string): string[] {
  return documents.flatMap((document) => fieldValues(document, field) ?? []);
}

function count(documents: readonly FakeDocument[], field: string, missing: string | null): Map<string, number> {
  if (!facetable.has(field)) throw new FacetFieldError(field);
  // OpenSearch can't aggregate analysed text, and Fess then reports a bad query.
  if (field === 'title' || field === 'content') throw new QuerySyntaxError(field);
  const counts = new Map<string, number>();
  for (const document of documents) {
    const values = fieldValues(document, field) ?? [];
    const keys = values.length === 0 && missing !== null ? [missing] : values;
    for (const value of new Set(keys)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/** Sorts buckets by `facet.sort`: by default by descending count, and ascending if it has no direction. */
function order(buckets: Bucket[], sort: string | null): Bucket[] {
  const [key = 'count', direction = 'asc'] = (sort ?? 'count.desc').split('.');
  const sign = direction === 'desc' ? -1 : 1;
  return buckets.toSorted((a, b) => {
    const byValue = compare(a.value, b.value);
    return key === 'count' ? sign * (a.count - b.count) || byValue : sign * byValue;
  });
}

function parseCount(text: string | null, fallback: number): number {
  if (text === null) return fallback;
  if (!/^\d+$/.test(text)) throw new FacetFieldError(text);
  return Number(text);
}
