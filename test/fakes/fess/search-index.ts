import { randomUUID } from 'node:crypto';
import { type ParsedSearch, parseSearch } from './assemble-query.ts';
import { type FacetAnswer, FacetFieldError, type FacetScope, facets } from './facets.ts';
import type { FakeDocument } from './fake-document.ts';
import { BadGeoError, geoFilter } from './geo.ts';
import { matches, positiveTerms, words, wordsOfDocument } from './lucene/evaluate.ts';
import { QuerySyntaxError } from './lucene/lexer.ts';
import type { Operator } from './lucene/parser.ts';
import { type Scored, sortHits, UnknownSortError } from './sort.ts';

export interface SearchPage {
  q: string | null;
  queryId: string;
  requestedTime: number;
  start: number;
  num: number;
  total: number;
  /** True if there may be more hits than `total`. */
  isLowerBound: boolean;
  searchQuery: string;
  /** Null if no search was run. */
  terms: string[] | null;
  hits: Scored[];
  /** True if hits have scores, which is only the case when they are sorted by score. */
  withScore: boolean;
  facets: FacetAnswer | undefined;
}

/** A failure that Fess answers with 400. */
export class BadRequestError extends Error {}

/** A failure that Fess 15.4 to 15.8 answers with 200 and no hits. */
export class SwallowedError extends Error {}

export interface IndexSettings {
  /** `query.orsearch.min.hit.count`: with this many hits or fewer, Fess searches again with OR as default operator. */
  orSearchMinHitCount: number;
  /** Simulates an operator's plugin that rewrites every search and loses the filters. */
  dropsFilters?: boolean;
  /** See `FacetScope`. */
  listsEmptyBuckets?: boolean;
}

const windowMax = 10_000;

export function searchIndex(
  documents: readonly FakeDocument[],
  requestParams: URLSearchParams,
  permissions: ReadonlySet<string>,
  settings: IndexSettings,
): SearchPage {
  const params = settings.dropsFilters === true ? withoutFilters(requestParams) : requestParams;
  const start = integer(params.get('start'), 0);
  const num = pageSize(params.get('num'));
  if (start > 100_000 || start + num > windowMax) throw new BadRequestError('result window');
  if (start < 0) throw new SwallowedError('negative start');
  const visible = documents.filter((document) => mayRead(document, permissions));
  const isNear = geoOrBadRequest(params);
  const run = (operator: Operator) => find(visible.filter(isNear), parseOrBadRequest(params, operator));
  const andResult = run('AND');
  const operator = andResult.hits.length <= settings.orSearchMinHitCount ? 'OR' : 'AND';
  const result = operator === 'OR' ? run('OR') : andResult;
  const scope = {
    found: result.hits.map(({ document }) => document),
    indexed: documents,
    listsEmptyBuckets: settings.listsEmptyBuckets === true,
  };
  return createPage(params, start, num, result, facetsOrFailure(scope, params, operator));
}

function withoutFilters(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params].filter(([name]) => !name.startsWith('fields.')));
}

interface QueryResult {
  search: ParsedSearch;
  hits: Scored[];
}

function find(documents: readonly FakeDocument[], search: ParsedSearch): QueryResult {
  const { query, defaultField } = search;
  if (query === null) return { search, hits: [] };
  const terms = positiveTerms(query).flatMap(words);
  const hits = documents
    .filter((document) => matches(query, document, defaultField))
    .map((document) => ({ document, score: score(document, terms) }));
  return { search, hits: sortHits(hits, search.sort) };
}

function createPage(
  params: URLSearchParams,
  start: number,
  num: number,
  result: QueryResult,
  facetAnswer: FacetAnswer | undefined,
): SearchPage {
  const isExact = params.get('track_total_hits') === 'true';
  const total = result.hits.length;
  const isCapped = !isExact && total > windowMax;
  return {
    q: params.get('q'),
    queryId: randomUUID().replaceAll('-', ''),
    requestedTime: Date.now(),
    start,
    num,
    total: isCapped ? windowMax : total,
    isLowerBound: isCapped || result.search.query === null,
    searchQuery: result.search.text,
    terms: result.search.query === null ? null : [...new Set(positiveTerms(result.search.query))],
    hits: result.hits.slice(start, start + num),
    withScore: result.search.sort.length === 0 || result.search.sort.some(({ field }) => field === 'score'),
    facets: facetAnswer,
  };
}

/** Returns the answer of Fess 15.4 to 15.8 while the engine is down: the same as for a search without hits. */
export function emptyPage(params: URLSearchParams): SearchPage {
  const num = pageSize(params.get('num'));
  const result = { search: { query: null, sort: [], defaultField: 'text' as const, text: '' }, hits: [] };
  const start = Math.max(0, integer(params.get('start'), 0));
  return { ...createPage(params, start, num, result, undefined), isLowerBound: false };
}

export function mayRead({ roles }: FakeDocument, permissions: ReadonlySet<string>): boolean {
  const denied = roles.some((role) => role.startsWith('D') && permissions.has(role.slice(1)));
  return !denied && roles.some((role) => permissions.has(role));
}

function parseOrBadRequest(params: URLSearchParams, operator: Operator): ParsedSearch {
  try {
    return parseSearch(params, operator);
  } catch (error) {
    if (error instanceof QuerySyntaxError || error instanceof UnknownSortError)
      throw new BadRequestError(error.message);
    throw error;
  }
}

function facetsOrFailure(scope: FacetScope, params: URLSearchParams, operator: Operator): FacetAnswer | undefined {
  try {
    return facets(scope, params, operator);
  } catch (error) {
    if (error instanceof FacetFieldError) throw new SwallowedError(error.message);
    if (error instanceof QuerySyntaxError) throw new BadRequestError(error.message);
    throw error;
  }
}

function geoOrBadRequest(params: URLSearchParams): (document: FakeDocument) => boolean {
  try {
    return geoFilter(params);
  } catch (error) {
    if (error instanceof BadGeoError) throw new BadRequestError(error.message);
    throw error;
  }
}

/** Parses the page size: ten by default, a hundred if the number is out of range. */
function pageSize(text: string | null): number {
  const num = integer(text, 10);
  return num > 100 || num <= 0 ? 100 : num;
}

function integer(text: string | null, fallback: number): number {
  return text !== null && /^-?\d+$/.test(text) ? Number(text) : fallback;
}

function score(document: FakeDocument, terms: readonly string[]): number {
  const inTitle = wordsOfDocument(document.title ?? '');
  const inContent = wordsOfDocument(document.content.slice(0, 2000));
  let sum = 1;
  for (const term of terms) {
    sum += inTitle.includes(term) ? 3 : 0;
    sum += Math.log1p(inContent.filter((word) => word === term).length);
  }
  return Math.round(sum * 10_000) / 10_000;
}
