import { CarrelError } from '../../base/errors.ts';
import { guardQuery } from './query-guard.ts';

/** Facet arguments of the search tool, with Fess's names without `facet.`. */
export interface FessFacets {
  field?: readonly string[] | undefined;
  query?: readonly string[] | undefined;
  size?: number | undefined;
  minDocCount?: number | undefined;
  sort?: string | undefined;
  missing?: string | undefined;
}

export interface FessGeo {
  /** `latitude,longitude`. */
  point: string;
  /** A number with a unit, such as `10km`. */
  distance: string;
}

/** Validates a label. Fess puts it in quotes into the query, so a quote or backslash in it would end the filter. */
export function guardLabel(label: string): string {
  if (/^[A-Za-z0-9_.-]{1,100}$/.test(label)) return label;
  throw invalid('label', 'must be 1 to 100 letters, digits, underscores, dots or hyphens');
}

export function guardDocId(docId: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(docId)) return docId;
  throw invalid('docId', 'must be 1 to 100 letters, digits, underscores or hyphens');
}

/** Validates a sort order. Fess appends it to the query, so blanks in it could add terms and parentheses. */
export function guardSort(sort: string): string {
  const key = String.raw`[a-z_]+(?:\.(?:asc|desc))?`;
  if (sort.length <= 200 && new RegExp(`^${key}(?:,${key})*$`).test(sort)) return sort;
  throw invalid('sort', 'must be field names, each with .asc or .desc, separated by commas: last_modified.desc');
}

export function guardLanguage(lang: string): string {
  if (/^[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?$/.test(lang)) return lang;
  throw invalid('lang', 'must be a language code such as en or pt-br');
}

/** Fields that Fess can count by. Title and content are split into words, so they can't be counted. */
const facetFields = [
  'content_length',
  'filetype',
  'host',
  'label',
  'last_modified',
  'mimetype',
  'segment',
  'timestamp',
  'url',
];

/** Max facet fields and max facet queries. Fess limits the request line to 8 KiB. */
const facetsMax = 20;

export function guardFacets(facets: FessFacets): FessFacets {
  for (const name of ['field', 'query'] as const) {
    if ((facets[name]?.length ?? 0) > facetsMax)
      throw invalid(`facets.${name}`, `must have at most ${facetsMax} entries`);
  }
  for (const field of facets.field ?? []) {
    if (!facetFields.includes(field)) throw invalid('facets.field', `must be one of ${facetFields.join(', ')}`);
  }
  guardRange('facets.size', facets.size, 1, 1000);
  // With 0, the search engine would also list values of documents that the label or role excludes.
  guardRange('facets.minDocCount', facets.minDocCount, 1, 1_000_000_000);
  if (facets.sort !== undefined && !/^(?:count|term|key)(?:\.(?:asc|desc))?$/.test(facets.sort)) {
    throw invalid('facets.sort', 'must be count or term, with .asc or .desc');
  }
  if ((facets.missing?.length ?? 0) > 100) throw invalid('facets.missing', 'must be at most 100 characters');
  return facets.query === undefined ? facets : { ...facets, query: facets.query.map(guardQuery) };
}

export function guardGeo(geo: FessGeo): FessGeo {
  const [latitude = Number.NaN, longitude = Number.NaN, ...extra] = geo.point.split(',').map(coordinate);
  const isOnEarth = extra.length === 0 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  if (!isOnEarth) throw invalid('geo.point', 'must be latitude,longitude in degrees: 35.68,139.76');
  if (!/^\d{1,8}(?:\.\d{1,8})?(?:km|m|mi)$/.test(geo.distance)) {
    throw invalid('geo.distance', 'must be a number with km, m or mi: 10km');
  }
  return { point: `${latitude},${longitude}`, distance: geo.distance };
}

/** Max results of a query that the search engine can return. */
export const resultWindow = 10_000;

/** Validates a page, and shortens it at the end of the result window. */
export function guardPage(start: number, num: number): { start: number; num: number } {
  guardRange('start', start, 0, resultWindow - 1);
  guardRange('pageSize', num, 1, 100);
  return { start, num: Math.min(num, resultWindow - start) };
}

export function guardRange(field: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
  throw invalid(field, `must be a whole number from ${min} to ${max}`);
}

function coordinate(text: string): number {
  return /^\s*-?\d{1,3}(?:\.\d{1,12})?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function invalid(field: string, fault: string): CarrelError {
  return new CarrelError('invalid_arguments', `${field} ${fault}.`, { data: { field } });
}
