import { read, type Visit } from '../console-tools.ts';
import { Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  checkbox,
  duration,
  emptyState,
  icon,
  iconButton,
  linkButton,
  linkTo,
  marker,
  meter,
  notice,
  number,
  type Option,
  passagePage,
  plainText,
  plural,
  problem,
  select,
  skeleton,
  sourceIcon,
  type Tone,
  time,
  typeIcon,
} from '../parts/parts.ts';
import { type Answer, filterNames, limit, type SearchRequest, searchAll } from './search-answer.ts';
import { welcome } from './search-welcome.ts';

/**
 * Searches everything. The first answer comes from keyword search alone. The ranked answer (`stage=full`) is then requested by
 * the script or, in browsers without script, by a refresh.
 */
export async function searchPage({ tools, query }: Visit): Promise<Page> {
  const text = (query.get('q') ?? '').trim().slice(0, 1000);
  const request: SearchRequest = { text, filters: filtersOf(query), wordsOnly: query.get('stage') !== 'full' };
  const start = performance.now();
  const answer = text === '' ? undefined : await searchAll(tools, request).catch(toMessage);
  const ms = performance.now() - start;
  const full = addressOf(text, { ...request.filters, stage: 'full' });
  const isRanking = answer !== undefined && !('message' in answer) && answer.wordsOnly;
  return {
    title: text === '' ? 'Search' : text.slice(0, 60),
    layout: 'wide',
    ...(isRanking ? { head: html`<noscript><meta http-equiv="refresh" content="0; url=${full}"></noscript>` } : {}),
    body: html`<h1 class="visually-hidden">Search</h1>
<div class="search-page${text === '' && ' is-empty'}">
<form class="search" role="search" method="get" action="/" data-search>
<div class="search-box">${icon('search')}<input id="q" name="q" type="search" value="${text}" placeholder="Search documents, notes and memories" aria-label="Search everything" autocomplete="off" spellcheck="false" maxlength="1000"${text === '' && new Html(' autofocus')}><kbd>/</kbd>${iconButton('arrow-right', 'Search')}</div>
<div id="facets" class="facets">${answer && !('message' in answer) && facets(answer, request)}</div>
</form>
<div class="search-columns"><div id="results" aria-live="polite"${isRanking && html` data-full="${full}"`}>${
      answer === undefined
        ? await welcome(tools)
        : 'message' in answer
          ? problem(answer.message)
          : results(answer, request, ms)
    }</div>
<div id="preview-slot" class="preview-slot"></div></div>
<template id="waiting">${skeleton(4)}</template></div>`,
  };
}

async function toMessage(error: unknown): Promise<{ message: string }> {
  if (error instanceof Error && error.name === 'CarrelError') return { message: error.message };
  throw error;
}

function filtersOf(query: URLSearchParams): SearchRequest['filters'] {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = query.get(name)?.slice(0, 200);
      return value ? [[name, value]] : [];
    }),
  );
}

function addressOf(text: string, parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams({ q: text });
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return `/?${query}`;
}

/* Facets: the values that occur in the results, with counts. */

const dateNames = { day: 'Past day', week: 'Past week', month: 'Past month', year: 'Past year' };
const dateDays = { day: 1, week: 7, month: 31, year: 366 };
type DateName = keyof typeof dateNames;

function isInDateRange(hit: Record<string, unknown>, name: DateName): boolean {
  return Date.now() - Date.parse(read.text(hit, 'date')) <= dateDays[name] * 86_400_000;
}

function facets({ hits }: Answer, { filters }: SearchRequest): Html {
  const group = hits.length < limit ? undefined : `In the top ${limit}`;
  const facet = (
    name: 'source' | 'collection' | 'type' | 'tag',
    label: string,
    all: string,
    options: Option[],
  ): Html | false =>
    (options.length > 0 || filters[name] !== undefined) &&
    select({
      label,
      name,
      options,
      value: filters[name] ?? '',
      all,
      group,
      hidesLabel: true,
      attributes: { 'data-set': filters[name] !== undefined },
    });
  const dates = (Object.keys(dateNames) as DateName[]).map((name) => ({
    value: name,
    label: dateNames[name],
    count: hits.filter((hit) => isInDateRange(hit, name)).length,
  }));
  return html`${facet(
    'source',
    'Source',
    'All sources',
    optionsByCount(
      hits.map((hit) => [read.text(hit, 'source')]),
      sourceName,
    ),
  )}
${facet('collection', 'Collection', 'All collections', optionsByCount(hits.map((hit) => [read.text(hit, 'collection')])))}
${facet('type', 'Type', 'All types', optionsByCount(hits.map((hit) => [read.text(hit, 'type')])))}
${facet('tag', 'Tag', 'All tags', optionsByCount(hits.map((hit) => read.texts(hit, 'tags'))))}
${select({ label: 'Date', name: 'date', options: dates, value: filters.date ?? '', all: 'Any date', group, hidesLabel: true, attributes: { 'data-set': filters.date !== undefined } })}
${select({ label: 'Sort', name: 'sort', options: [{ value: 'date', label: 'Newest first' }], value: filters.sort ?? '', all: 'Most relevant', hidesLabel: true })}
${checkbox('Low relevance', 'weak', { isChecked: filters.weak === '1' })}`;
}

const optionsMax = 30;

function optionsByCount(values: readonly (readonly string[])[], labelOf = (value: string) => value): Option[] {
  const counts = new Map<string, number>();
  for (const value of values.flat()) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .slice(0, optionsMax)
    .map(([value, count]) => ({ value, label: labelOf(value), count }));
}

const sourceNames: Record<string, string> = { kb: 'Documents', context: 'Memories', notes: 'Notes', web: 'Web' };

function sourceName(source: string): string {
  return sourceNames[source] ?? source;
}

/* Results */

function results(answer: Answer, request: SearchRequest, ms: number): Html {
  const { filters } = request;
  const { date, sort } = filters;
  const matchingDate =
    date !== undefined && date in dateNames
      ? answer.hits.filter((hit) => isInDateRange(hit, date as DateName))
      : answer.hits;
  const hits =
    sort === 'date'
      ? matchingDate.toSorted((a, b) => read.text(b, 'date').localeCompare(read.text(a, 'date')))
      : matchingDate;
  const mark = marker(request.text);
  const showWeak = addressOf(request.text, { ...filters, weak: '1' });
  const problems = answer.sources.filter((each) => ['failed', 'degraded'].includes(read.text(each, 'status')));
  return html`<p class="summary">${countOf(hits.length, answer.hits.length)}${answer.weakOmitted > 0 && html` · <a href="${showWeak}">${number(answer.weakOmitted)} low-relevance hidden</a>`}${answer.wordsOnly ? html` · <span class="ranking">${icon('loader-circle')}Ranking</span>` : html` · <span class="figure">${duration(ms)}</span>`}</p>
${problems.map((each) => notice(`${sourceName(read.text(each, 'source'))}: ${read.text(each, 'message')}`, read.text(each, 'status') === 'failed' ? 'warn' : 'neutral'))}
${hits.length === 0 && !answer.wordsOnly && noResults(answer, request, showWeak)}
${hits.length === 0 && answer.wordsOnly && skeleton(3)}
<ol class="results">${hits.map((hit) => result(hit, request, mark))}</ol>`;
}

/** Describes the number of results. A search returns only the best ones, and the date filter applies to these. */
function countOf(shown: number, found: number): string {
  if (found < limit) return plural(shown, 'result');
  return shown === found ? `Top ${limit} results` : `${shown} of the top ${limit} results`;
}

function noResults(answer: Answer, { text, filters }: SearchRequest, showWeak: string): Html {
  const isFiltered = ['source', 'collection', 'type', 'tag', 'date'].some((name) => name in filters);
  return emptyState({
    icon: 'search',
    title: 'No results',
    text: isFiltered ? 'Nothing matches with these filters.' : answer.hint || 'Try other words.',
    actions: html`${isFiltered && linkButton(addressOf(text, {}), 'Remove filters', { icon: 'x' })}${answer.weakOmitted > 0 && linkButton(showWeak, `Show ${plural(answer.weakOmitted, 'low-relevance result')}`)}`,
  });
}

function result(hit: Record<string, unknown>, { text, filters }: SearchRequest, mark: (text: string) => Html): Html {
  const uri = read.text(hit, 'uri');
  const [source, type] = [read.text(hit, 'source'), read.text(hit, 'type')];
  const title = plainText(read.text(hit, 'title')) || uri;
  const tags = read.texts(hit, 'tags');
  return html`<li class="hit result" tabindex="0" data-preview="${previewOf(hit, uri, text)}">
<p class="crumbs">${icon(type === '' ? sourceIcon(source) : typeIcon(type))}${crumbsOf(hit, source).map((crumb, index) => html`${index > 0 && icon('chevron-right')}<span>${crumb}</span>`)}</p>
<h2>${linkTo(uri, mark(title), passagePage(uri, hit))}</h2>
<p class="snippet">${mark(plainText(read.text(hit, 'snippet')))}</p>
<div class="result-foot">${relevanceBadge(read.number(hit, 'relevance'))}${replacedBadge(read.text(hit, 'replaced_by'))}${time(read.text(hit, 'date'))}
${tags.length > 0 && html`<ul class="chips" aria-label="Tags">${tags.map((tag) => html`<li><a class="chip" href="${addressOf(text, { ...filters, tag })}"${filters.tag === tag && new Html(' aria-current="true"')}>${tag}</a></li>`)}</ul>`}
${explanation(hit)}</div></li>`;
}

function previewOf(hit: Record<string, unknown>, uri: string, text: string): string {
  const query = new URLSearchParams({ uri, q: text });
  const chunk = read.number(hit, 'chunk_index');
  const range = hit['range'];
  if (chunk !== undefined) query.set('chunk', String(chunk));
  if (Array.isArray(range)) query.set('range', range.map(Number).join('-'));
  return `/preview?${query}`;
}

/** Returns source, collection and section of a result. For tables the section is the header row, which is omitted. */
function crumbsOf(hit: Record<string, unknown>, source: string): string[] {
  const title = read.text(hit, 'title');
  const isTable = ['csv', 'tsv'].includes(read.text(hit, 'type'));
  const places = isTable ? [] : read.text(hit, 'place').split(/ > |, (?=\D)/);
  return [sourceName(source), read.text(hit, 'collection'), ...places.map(plainText)]
    .filter((part) => part !== '' && part !== title)
    .slice(0, 5);
}

const strongMin = 0.7;
const goodMin = 0.4;

/** Renders the relevance as a word. */
function relevanceBadge(relevance: number | undefined): Part {
  if (relevance === undefined) return false;
  const [word, tone]: [string, Tone] =
    relevance >= strongMin ? ['Strong', 'good'] : relevance >= goodMin ? ['Good', 'accent'] : ['Possible', 'neutral'];
  return html`<span title="Relevance ${relevance.toFixed(2)}">${badge(word, tone)}</span>`;
}

/** Renders a link to the memory that replaced a result, if any. */
function replacedBadge(newer: string): Part {
  return newer !== '' && linkTo(newer, badge('Replaced', 'warn', 'history'));
}

function explanation(hit: Record<string, unknown>): Html {
  const scores = read.object(hit, 'scores');
  const names = { words: 'Words', meaning: 'Meaning', reranker: 'Reranker' };
  const meters = Object.entries(names).map(([name, label]) => {
    const score = read.number(scores, name);
    return score === undefined ? html`` : meter(label, score);
  });
  const relevance = read.number(hit, 'relevance');
  const reason = read.text(hit, 'why');
  return html`<details class="why"><summary>Why this result</summary><div class="why-body">${relevance !== undefined && meter('Relevance', relevance)}${meters}${reason !== '' && html`<p class="meta">${reason.charAt(0).toUpperCase()}${reason.slice(1)}</p>`}</div></details>`;
}
