import { CarrelError } from '../../../base/errors.ts';
import {
  guardFacets,
  guardGeo,
  guardLabel,
  guardLanguage,
  guardPage,
  guardRange,
  guardSort,
} from '../parameter-guard.ts';
import { guardQuery, hasAllInPrefix, queryLengthMax, replaceControls, requireLabel } from '../query-guard.ts';
import type { FessDialect } from './ask-fess.ts';
import type { FessPopularWordsRequest, FessSearchRequest, FessSuggestRequest } from './fess-api.ts';

export interface SearchParameters {
  params: URLSearchParams;
  start: number;
  num: number;
  /** The facet queries as sent, in the caller's order. */
  facetQueries: readonly string[];
  /** Facet queries that this server adds. They count the results with the label, those without it, and those that match the query. */
  counts: { labelled: string; outside: string; matching: string | undefined };
}

/** Max bytes of a query whose matches are counted. Counting repeats the query in the request line, which is limited to 8 KiB. */
const countedBytesMax = 2000;

/** Converts a request to safe parameters for Fess. If `countMatches`, Fess counts the matches of the query too. */
export function searchParameters(request: FessSearchRequest, countMatches = false): SearchParameters {
  const query = guardQuery(request.query);
  const canCount = countMatches && encodeURIComponent(query).length <= countedBytesMax && !hasAllInPrefix(query);
  return parametersOf(request, query, canCount ? query : undefined);
}

/** Converts a request to a form in which query and label are both required. Undefined if it is too long to send. */
export function strictSearchParameters(request: FessSearchRequest): SearchParameters | undefined {
  const query = requireLabel(guardQuery(request.query), guardLabel(request.label));
  return query.length > queryLengthMax ? undefined : parametersOf(request, query);
}

export function queryTooLong(label: string): CarrelError {
  const charsMax = queryLengthMax - requireLabel('', label).length;
  const message = `Shorten the query: this Fess server accepts at most ${charsMax} characters, special characters counting double.`;
  return new CarrelError('invalid_arguments', message, { data: { field: 'query' } });
}

/** Always sends `num`, because the server's default may differ. */
function parametersOf(request: FessSearchRequest, q: string, matching?: string): SearchParameters {
  const { start, num } = guardPage(request.start ?? 0, request.num ?? 20);
  const label = guardLabel(request.label);
  const params = new URLSearchParams({ q, 'fields.label': label });
  params.set('num', String(num));
  params.set('start', String(start));
  if (request.sort !== undefined) params.set('sort', guardSort(request.sort));
  if (request.lang !== undefined) params.set('lang', guardLanguage(request.lang));
  if (request.geo !== undefined) {
    const { point, distance } = guardGeo(request.geo);
    params.set('geo.location.point', point);
    params.set('geo.location.distance', distance);
  }
  const facets = guardFacets(request.facets ?? {});
  const counts = { labelled: `label:"${label}"`, outside: `NOT label:"${label}"`, matching };
  const facetQueries = facets.query ?? [];
  // Fess's search engine rejects duplicate facets, and Fess then returns nothing.
  for (const field of new Set(facets.field)) params.append('facet.field', field);
  const counted = matching === undefined ? facetQueries : [matching, ...facetQueries];
  for (const query of new Set([counts.labelled, counts.outside, ...counted])) params.append('facet.query', query);
  for (const name of ['size', 'minDocCount', 'sort', 'missing'] as const) {
    if (facets[name] !== undefined) params.set(`facet.${name}`, String(facets[name]));
  }
  return { params, start, num, facetQueries, counts };
}

export function suggestParameters(request: FessSuggestRequest, dialect: FessDialect): URLSearchParams {
  const num = request.num ?? 10;
  guardRange('num', num, 1, 100);
  const params = new URLSearchParams({
    q: replaceControls(request.prefix).slice(0, queryLengthMax),
    num: String(num),
    label: guardLabel(request.label),
  });
  for (const field of request.fields ?? []) params.append(dialect.suggestField, field);
  if (request.lang !== undefined) params.set('lang', guardLanguage(request.lang));
  return params;
}

export function popularWordsParameters(request: FessPopularWordsRequest): URLSearchParams {
  const params = new URLSearchParams({ label: guardLabel(request.label) });
  if (request.seed !== undefined) params.set('seed', String(request.seed));
  if (request.field !== undefined) params.set('field', request.field);
  return params;
}
