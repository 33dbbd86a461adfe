import { createHash } from 'node:crypto';
import { type FakeDocument, hostOf, siteOf } from './fake-document.ts';
import { words } from './lucene/evaluate.ts';
import type { SearchPage } from './search-index.ts';
import type { Scored } from './sort.ts';

export interface AnswerSettings {
  /** Additional response fields set by the operator; `content`, `label` and `lang` are not returned by default. */
  additionalFields: readonly string[];
  /** Since 15.7, hits also have has_cache, click_count and favorite_count. */
  is157OrLater: boolean;
}

/** Creates a search answer with the field names and page numbers of Fess, the same in v1 and v2. */
export function searchAnswer(page: SearchPage, settings: AnswerSettings): Record<string, unknown> {
  const { start, num, total, hits } = page;
  const pageNumber = Math.floor(start / num) + 1;
  // Java's integer division truncates towards zero, so zero hits make one page, unless the page size is one.
  let pageCount = Math.trunc((total - 1) / num) + 1;
  const isPartial = hits.length < num;
  if (isPartial && start < (pageCount - 1) * num) pageCount = pageNumber;
  const firstRecord = total === 0 ? 0 : start + 1;
  return {
    q: page.q,
    query_id: page.queryId,
    exec_time: 0.04,
    query_time: 11,
    page_size: num,
    page_number: pageNumber,
    record_count: total,
    record_count_relation: page.isLowerBound ? 'GREATER_THAN_OR_EQUAL_TO' : 'EQUAL_TO',
    page_count: pageCount,
    highlight_params: page.terms?.map((term) => `&hq=${encodeURIComponent(term)}`).join('') ?? null,
    next_page: !isPartial && start < (pageCount - 1) * num,
    prev_page: start > 0,
    start_record_number: firstRecord,
    end_record_number: Math.min(firstRecord === 0 ? 0 : firstRecord + num - 1, total),
    page_numbers: pageNumbers(pageNumber, pageCount),
    partial: false,
    search_query: page.searchQuery,
    requested_time: page.requestedTime,
    related_query: [],
    related_contents: [],
    data: hits.map((hit) => searchHit(hit, page, settings)),
    ...(page.facets === undefined ? {} : { facet_field: page.facets.fields, facet_query: page.facets.queries }),
  };
}

export function searchHit(hit: Scored, page: SearchPage, settings: AnswerSettings): Record<string, unknown> {
  const { document } = hit;
  const terms = (page.terms ?? []).flatMap(words);
  const formatNumber = (value: number, fraction: number) =>
    document.indexedBy === 'crawler' ? value.toFixed(fraction) : value;
  return withoutMissing({
    _id: createHash('sha512').update(`${document.url};role=${document.roles.join()}`).digest('hex'),
    doc_id: document.docId,
    title: document.title,
    content_title: highlight((document.title ?? '').slice(0, 50), terms),
    content_description: description(document, terms),
    digest: document.digest,
    url: document.url,
    url_link: document.url,
    host: hostOf(document),
    site: siteOf(document),
    site_path: siteOf(document),
    mimetype: document.mimetype,
    filetype: document.filetype,
    filename: document.filename,
    content_length: formatNumber(document.contentLength, 0),
    boost: formatNumber(1, 1),
    created: document.created,
    last_modified: document.lastModified,
    timestamp: document.lastModified ?? document.created,
    score: page.withScore ? hit.score : undefined,
    ...(settings.is157OrLater ? recentFields(document) : {}),
    ...additionalFields(document, settings.additionalFields),
  });
}

function recentFields(document: FakeDocument): Record<string, unknown> {
  return {
    has_cache: document.cachedHtml === undefined ? undefined : 'true',
    click_count: document.clickCount,
    favorite_count: 0,
  };
}

function additionalFields(document: FakeDocument, names: readonly string[]): Record<string, unknown> {
  const all = { content: document.content, label: document.labels, lang: [document.lang], role: document.roles };
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

function pageNumbers(current: number, count: number): string[] {
  const numbers: string[] = [];
  for (let page = Math.max(1, current - 5); page <= Math.min(count, current + 5); page += 1) numbers.push(String(page));
  return numbers;
}

/** Returns up to two fragments of sixty characters with the matches in bold; without matches, the digest or nothing. */
function description(document: FakeDocument, terms: readonly string[]): string {
  const lower = document.content.toLowerCase();
  const offsets = terms.map((term) => lower.indexOf(term)).filter((offset) => offset >= 0);
  if (offsets.length === 0) return escapeHtml(document.digest ?? '');
  const fragments = [...new Set(offsets)]
    .slice(0, 2)
    .map((offset) => document.content.slice(Math.max(0, offset - 20), offset + 40));
  return `${fragments.map((fragment) => highlight(fragment, terms)).join('...')}...`;
}

function highlight(text: string, terms: readonly string[]): string {
  return escapeHtml(text).replace(/[\p{L}\p{N}\p{M}_]+/gu, (word) =>
    terms.includes(word.toLowerCase()) ? `<strong>${word}</strong>` : word,
  );
}

/** Escapes HTML with the entities that Fess's pages (JSTL) use. */
function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#034;', "'": '&#039;' };
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}

function withoutMissing(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
