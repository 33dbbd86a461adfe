import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  bytes,
  card,
  checkbox,
  confirmButton,
  emptyState,
  field,
  icon,
  linkButton,
  linkTo,
  listOf,
  notice,
  number,
  pageHeader,
  pageNotFound,
  plural,
  select,
  tagList,
  time,
  toast,
} from '../parts/parts.ts';

const path = '/web';

/** Shows the web sources, each with its last run. */
export async function webSourcesPage({ tools, query }: Visit): Promise<Page> {
  const sources = read.list(await tools.call('kb_sources', {}), 'sources');
  const [canAdd, canChange] = [tools.has('kb_add_source'), tools.has('kb_change_source')];
  const isActive = sources.some((source) => read.text(source, 'status') === 'refreshing');
  const add = canAdd && linkButton(`${path}/new`, 'Add source', { kind: 'primary', icon: 'plus' });
  const done = doneTexts[query.get('done') ?? ''];
  return {
    title: 'Web sources',
    toast: done === undefined ? undefined : toast(done),
    body: html`${pageHeader({
      title: 'Web sources',
      meta: 'Pages, sites and feeds whose documents are kept up to date.',
      ...(add && sources.length > 0 ? { actions: add } : {}),
    })}
<div id="list" class="stack" data-refresh="${isActive ? '1500' : '10000'}">${
      sources.length === 0
        ? emptyState({
            icon: 'globe',
            title: 'No web sources yet',
            text: 'Add a page, a whole documentation site, a sitemap or a feed. Carrel fetches it and keeps it up to date.',
            actions: add || undefined,
          })
        : sources.map((source) => sourceCard(source, canChange))
    }</div>`,
  };
}

const doneTexts: Readonly<Record<string, string>> = {
  added: 'Source added. Its first run has started.',
  refresh: 'Refresh started.',
  pause: 'Source paused.',
  resume: 'Source resumed.',
  remove: 'Source removed.',
};

const modes: Readonly<Record<string, string>> = { page: 'Page', site: 'Site', sitemap: 'Sitemap', feed: 'Feed' };

function sourceCard(source: Record<string, unknown>, canChange: boolean): Html {
  const url = read.text(source, 'url');
  const id = read.number(source, 'source_id') ?? 0;
  const documents = read.number(source, 'documents') ?? 0;
  const pages = read.number(source, 'pages') ?? 0;
  const next = read.text(source, 'next_refresh');
  const refresh = read.text(source, 'refresh');
  const lastRun = read.object(source, 'last_run');
  const tags = read.texts(source, 'tags');
  const collection = read.text(source, 'collection');
  return html`<article class="card web-source" tabindex="0"><div class="card-header">${icon('globe')}<h2>${linkTo(url, url)}</h2>${stateBadge(source, lastRun)}${canChange && html`<div class="row">${actions(id, read.text(source, 'status'), url, documents)}</div>`}</div>
<p class="meta row"><span>${modes[read.text(source, 'mode')] ?? ''}</span><span>${plural(pages, 'page')}</span><span>${
    documents > 0
      ? html`<a href="/documents?collection=${encodeURIComponent(collection)}">${plural(documents, 'document')}</a>`
      : 'no documents'
  }</span><span>in ${collection || 'documents'}</span>${
    read.text(source, 'status') === 'paused'
      ? html`<span>no refresh while paused</span>`
      : html`<span>${refresh === 'never' ? 'never refreshed' : `refreshed ${refresh.replace(/^(\d+) h$/, 'every $1 hours')}`}</span>${next !== '' && html`<span>next ${time(next)}</span>`}`
  }${tagList(tags)}</p>
${lastRun['ended_at'] === undefined ? html`` : runSummary(lastRun)}</article>`;
}

function stateBadge(source: Record<string, unknown>, lastRun: Record<string, unknown>): Html {
  const status = read.text(source, 'status');
  if (status === 'refreshing') return badge('Refreshing', 'info', 'loader-circle');
  if (status === 'paused') return badge('Paused', 'neutral', 'pause');
  if (read.text(lastRun, 'status') === 'failed') return badge('Last run failed', 'bad', 'circle-alert');
  if ((read.number(lastRun, 'failed') ?? 0) > 0) return badge('Some pages failed', 'warn', 'triangle-alert');
  return lastRun['ended_at'] === undefined ? badge('Not read yet') : badge('Up to date', 'good', 'circle-check');
}

const counts: readonly (readonly [name: string, label: string])[] = [
  ['new', 'new'],
  ['changed', 'changed'],
  ['unchanged', 'unchanged'],
  ['gone', 'gone'],
  ['duplicates', 'duplicate'],
  ['skipped', 'skipped'],
  ['failed', 'failed'],
];

/** Summarises the last run: how many pages were read, and why some are missing. */
function runSummary(run: Record<string, unknown>): Html {
  const nonZero = counts
    .map(([name, label]) => [read.number(run, name) ?? 0, label] as const)
    .filter(([count]) => count > 0);
  const reasons = read.list(run, 'reasons');
  const limits = read.texts(run, 'limits');
  const error = read.text(run, 'error') || read.text(run, 'message');
  return html`<div class="run"><p class="row"><span class="meta">Last run ${time(read.text(run, 'ended_at'))}:</span>${
    nonZero.length === 0
      ? html`<span class="meta">nothing to read</span>`
      : nonZero.map(
          ([count, label]) =>
            html`<span class="${label === 'failed' ? 'count bad' : 'count'}"><b>${number(count)}</b> ${label}</span>`,
        )
  }<span class="meta">${bytes(read.number(run, 'bytes') ?? 0)}</span></p>
${error !== '' && notice(error, 'bad')}
${limits.length > 0 && notice(`Stopped at a limit: ${limits.map((each) => limitNames[each] ?? each).join(', ')}. Add the source again with higher limits to read the rest.`, 'warn')}
${
  reasons.length > 0 &&
  html`<details><summary class="meta">Why pages are missing</summary><ul class="reasons">${reasons.map(reasonLine)}</ul></details>`
}</div>`;
}

const limitNames: Readonly<Record<string, string>> = {
  pages: 'number of pages',
  depth: 'depth of links',
  bytes: 'bytes',
  cpu: 'CPU time',
  calendar: 'endless calendar',
};

function reasonLine(reason: Record<string, unknown>): Html {
  const example = read.text(reason, 'example');
  return html`<li><b>${number(read.number(reason, 'pages') ?? 0)}</b> ${reasonInWords(read.text(reason, 'reason'))}${example !== '' && html` <span class="meta">such as ${linkTo(example, example)}</span>`}</li>`;
}

/** Turns `http_404` into "HTTP 404", and other codes into words. */
function reasonInWords(code: string): string {
  const status = /^http_(\d+)$/.exec(code)?.[1];
  return status === undefined ? code.replaceAll('_', ' ') : `HTTP ${status}`;
}

function actions(id: number, status: string, url: string, documents: number): Html {
  const small = (label: string, action: string, sign: 'refresh-cw' | 'pause' | 'play') =>
    html`<form method="post" action="${path}/${id}/${action}">${button(label, { icon: sign, isSmall: true })}</form>`;
  return html`${status !== 'refreshing' && status !== 'paused' && small('Refresh', 'refresh', 'refresh-cw')}
${status === 'paused' ? small('Resume', 'resume', 'play') : small('Pause', 'pause', 'pause')}
${confirmButton({
  id: `remove-${id}`,
  label: 'Remove',
  question: `Remove ${url.length > 80 ? `${url.slice(0, 80)}…` : url}?`,
  detail: 'It will no longer be refreshed.',
  action: `${path}/${id}/remove`,
  fields: documents === 0 ? html`` : checkbox(`Also delete its ${plural(documents, 'document')}`, 'documents'),
  style: { isSmall: true, icon: 'trash-2', kind: 'quiet' },
})}`;
}

/** Shows the form for a new source. */
export async function newWebSourcePage({ tools, subpath, query }: Visit): Promise<Page> {
  if (subpath !== 'new' || !tools.has('kb_add_source')) throw pageNotFound();
  return {
    title: 'Add a web source',
    body: html`${pageHeader({ title: 'Add a web source', trail: [{ href: path, label: 'Web sources' }] })}
<div class="narrow">${card(html`<form class="change" method="post" action="${path}/new">
${field({ label: 'Address', name: 'url', type: 'url', value: query.get('url') ?? '', placeholder: 'https://docs.example.org/guide/', isRequired: true, attributes: { autofocus: true, maxlength: 2000 } })}
<div class="form-grid">${select({
      label: 'Read',
      name: 'mode',
      value: 'page',
      options: [
        { value: 'page', label: 'This page only' },
        { value: 'site', label: 'The site below this path' },
        { value: 'sitemap', label: 'Every page of its sitemap' },
        { value: 'feed', label: 'The entries of a feed' },
      ],
    })}
${select({
  label: 'Refresh',
  name: 'refresh',
  all: 'Default for this kind',
  options: [
    { value: 'daily', label: 'Every day' },
    { value: 'weekly', label: 'Every week' },
    { value: '1', label: 'Every hour' },
    { value: 'never', label: 'Never' },
  ],
})}
${field({ label: 'Collection', name: 'collection', placeholder: 'documents' })}
${field({ label: 'Tags', name: 'tags', placeholder: 'Separate with commas' })}</div>
<details><summary>Limits and filters</summary><div class="form-grid">
${field({ label: 'Link depth', name: 'depth', type: 'number', placeholder: '3', attributes: { min: 0, max: 50 } })}
${field({ label: 'Max pages', name: 'pages', type: 'number', placeholder: '1000', attributes: { min: 1, max: 20_000 } })}
${field({ label: 'Include paths', name: 'include', placeholder: 'guide/**, api/*.html' })}
${field({ label: 'Exclude paths', name: 'exclude', placeholder: '**/archive/**' })}
${field({ label: 'Version', name: 'version', placeholder: '2.4', hint: 'Becomes a tag to filter searches by.' })}</div></details>
${button('Add source', { kind: 'primary' })}</form>`)}
<p class="meta">robots.txt is followed, and each host gets at most one request per second.</p></div>`,
  };
}

/** Adds or changes a source. Returns the path of the next page. */
export async function changeWebSource({ tools, subpath, form }: Visit): Promise<string> {
  if (subpath === 'new') {
    await tools.call('kb_add_source', requestOf(form));
    return `${path}?done=added`;
  }
  const [, id, action] = /^(\d{1,15})\/(refresh|pause|resume|remove)$/.exec(subpath) ?? [];
  if (id === undefined || action === undefined) throw pageNotFound();
  const documents = action === 'remove' && form.get('documents') !== null ? { documents: true } : {};
  await tools.call('kb_change_source', { source_id: Number(id), action, ...documents });
  return `${path}?done=${action}`;
}

function requestOf(form: URLSearchParams): Record<string, unknown> {
  const text = (name: string): string => (form.get(name) ?? '').trim();
  const optional = (name: string, value: unknown): Record<string, unknown> =>
    text(name) === '' ? {} : { [name]: value };
  return {
    url: text('url'),
    mode: text('mode') || 'page',
    ...optional('collection', text('collection')),
    ...optional('tags', listOf(text('tags'))),
    ...optional('refresh', text('refresh')),
    ...optional('depth', Number(text('depth'))),
    ...optional('pages', Number(text('pages'))),
    ...optional('include', listOf(text('include'))),
    ...optional('exclude', listOf(text('exclude'))),
    ...optional('version', text('version')),
  };
}
