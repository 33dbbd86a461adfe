import { isObject } from '../../../base/json.ts';
import { markupText } from '../../../documents/html/markup-text.ts';
import { type FessFacets, resultWindow } from '../parameter-guard.ts';
import type { FessFacetCounts, FessHit, FessSearchAnswer, FessSearchRequest } from './fess-api.ts';
import type { SearchParameters } from './search-parameters.ts';

export interface ParsedSearchAnswer {
  answer: FessSearchAnswer;
  /** The query as Fess parsed it. Undefined if the answer omits it. */
  searchQuery: string | undefined;
  /** Labels of each hit, if the answer shows them. */
  hitLabels: (string[] | undefined)[];
  /** Number of results with and without the label. Undefined if Fess did not count them. */
  labelled: number | undefined;
  outside: number | undefined;
  /** Number of results that match the query itself. Undefined if it was not requested. */
  matching: number | undefined;
  total: number;
  queryId: string;
  requestedTime: number;
}

/** Reads a search answer of v1 or v2, without its envelope. Null if it is something else. */
export function readSearchAnswer(
  body: Record<string, unknown>,
  sent: SearchParameters,
  { label, facets: requested }: Pick<FessSearchRequest, 'label' | 'facets'>,
): ParsedSearchAnswer | null {
  const { record_count: total, search_query: searchQuery } = body;
  const data = body['data'] ?? (total === 0 ? [] : undefined);
  if (typeof total !== 'number' || !Array.isArray(data)) return null;
  const facetCounts = new Map(records(body['facet_query']).map(({ value, count }) => [text(value), numberOf(count)]));
  const documents = data.filter((item) => isObject(item)).filter((item) => typeof item['doc_id'] === 'string');
  const next = sent.start + sent.num;
  return {
    answer: {
      total,
      isTotalExact: body['record_count_relation'] !== 'GREATER_THAN_OR_EQUAL_TO',
      start: sent.start,
      num: sent.num,
      nextStart: documents.length > 0 && next < Math.min(total, resultWindow) ? next : undefined,
      hits: documents.map(readHit),
      facets: hasFacets(requested) ? readFacets(body, facetCounts, sent, { label, requested }) : undefined,
      relatedQueries: strings(body['related_query']),
      isPartial: body['partial'] === true,
      isOutageRuledOut: true,
      execTimeMs: Math.round(numberOf(body['exec_time']) * 1000),
    },
    searchQuery: typeof searchQuery === 'string' && searchQuery !== '' ? searchQuery : undefined,
    hitLabels: documents.map(({ label }) =>
      label === undefined ? undefined : strings(Array.isArray(label) ? label : [label]),
    ),
    labelled: facetCounts.get(sent.counts.labelled),
    outside: facetCounts.get(sent.counts.outside),
    matching: sent.counts.matching === undefined ? undefined : facetCounts.get(sent.counts.matching),
    total,
    queryId: text(body['query_id']),
    requestedTime: numberOf(body['requested_time']),
  };
}

/** Fields omitted from `fields`: those with their own property, `_id`, which resembles `doc_id`, and confidential roles. */
const omittedFields = new Set(['_id', 'doc_id', 'title', 'url', 'digest', 'score', 'content', 'cache', 'role']);
const numericFields = new Set(['content_length', 'boost', 'click_count', 'favorite_count']);
/** Fields with HTML: Fess escapes them and marks matches with `<strong>`. */
const htmlFields = new Set(['content_title', 'content_description']);

function readHit(document: Record<string, unknown>): FessHit {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(document)) {
    if (omittedFields.has(name)) continue;
    if (numericFields.has(name)) fields[name] = numberOf(value);
    else fields[name] = htmlFields.has(name) ? markupText(text(value)) : value;
  }
  const { score, content } = document;
  return {
    docId: text(document['doc_id']),
    title: text(document['title']),
    url: text(document['url']),
    digest: text(document['digest']),
    score: typeof score === 'number' ? score : undefined,
    content: typeof content === 'string' ? content : undefined,
    fields,
  };
}

function hasFacets(facets: FessFacets | undefined): facets is FessFacets {
  return (facets?.field?.length ?? 0) + (facets?.query?.length ?? 0) > 0;
}

/** Returns the requested facets, in the caller's order and wording. Omits the counts that this server added. */
function readFacets(
  body: Record<string, unknown>,
  facetCounts: ReadonlyMap<string, number>,
  { facetQueries }: SearchParameters,
  { label, requested }: { label: string; requested: FessFacets },
): FessFacetCounts | undefined {
  if (!Array.isArray(body['facet_field']) && !Array.isArray(body['facet_query'])) return undefined;
  const fields = records(body['facet_field']).map(({ name, result }) => ({
    name: text(name),
    values: records(result)
      .map(({ value, count }) => ({ value: text(value), count: numberOf(count) }))
      // Omits values without results, which may come from documents outside the label, and labels of other domains.
      .filter(({ value, count }) => count > 0 && (name !== 'label' || value === label)),
  }));
  return {
    fields: (requested.field ?? []).flatMap((name) => fields.find((field) => field.name === name) ?? []),
    queries: facetQueries.flatMap((sent, index) => {
      const count = facetCounts.get(sent);
      return count === undefined ? [] : [{ value: requested.query?.[index] ?? sent, count }];
    }),
  };
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Converts a value to a number, or to 0. Crawled documents have numbers as strings. */
function numberOf(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}
