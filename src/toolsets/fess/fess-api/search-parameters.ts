import { guardFacets, guardGeo, guardLabel, guardLanguage, guardPage, guardSort, inRange } from '../parameter-guard.ts';
import { guardQuery, queryLengthMax, readable } from '../query-guard.ts';
import type { FessPopularWordsRequest, FessSearchRequest, FessSuggestRequest } from './fess-api.ts';
import type { FessDialect } from './fess-dialect.ts';

export interface SearchParameters {
  params: URLSearchParams;
  start: number;
  num: number;
  /** What was sent for each facet query, in the order in which the caller gave them. */
  facetQueries: readonly string[];
  /** A facet query of our own: how many of the results have the label. */
  labelQuery: string;
}

/** The guarded request in Fess's own parameters. `num` is always there, because the server's default is not ours. */
export function searchParameters(request: FessSearchRequest): SearchParameters {
  const { start, num } = guardPage(request.start ?? 0, request.num ?? 20);
  const params = new URLSearchParams({ q: guardQuery(request.query), 'fields.label': guardLabel(request.label) });
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
  for (const field of facets.field ?? []) params.append('facet.field', field);
  const labelQuery = `label:"${guardLabel(request.label)}"`;
  for (const query of [labelQuery, ...(facets.query ?? [])]) params.append('facet.query', query);
  for (const name of ['size', 'minDocCount', 'sort', 'missing'] as const) {
    if (facets[name] !== undefined) params.set(`facet.${name}`, String(facets[name]));
  }
  return { params, start, num, facetQueries: facets.query ?? [], labelQuery };
}

export function suggestParameters(request: FessSuggestRequest, dialect: FessDialect): URLSearchParams {
  const num = request.num ?? 10;
  inRange('num', num, 1, 100);
  const params = new URLSearchParams({
    q: readable(request.prefix).slice(0, queryLengthMax),
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
