import { Html, html, type Part } from '../html.ts';
import { attributes, button } from './controls.ts';
import { number } from './format.ts';
import type { IconName } from './icon-shapes.ts';
import { icon } from './icons.ts';

/** Renders the top of a page: breadcrumbs (`trail`), the only `h1`, a line of details (`meta`), and actions. */
export function pageHeader(options: {
  title: Part;
  trail?: readonly { href: string; label: string }[];
  meta?: Part;
  actions?: Part;
}): Html {
  const { title, trail = [], meta, actions } = options;
  return html`<div class="page-header"><div>
${trail.length > 0 && html`<nav class="trail" aria-label="Breadcrumb">${trail.map(({ href, label }, index) => html`${index > 0 && icon('chevron-right')}<a href="${href}">${label}</a>`)}</nav>`}
<h1>${title}</h1>${meta !== undefined && html`<p class="meta">${meta}</p>`}</div>
${actions !== undefined && html`<div class="row">${actions}</div>`}</div>`;
}

export function card(body: Part, options: { title?: Part; meta?: Part; actions?: Part; id?: string } = {}): Html {
  const { title, meta, actions, id } = options;
  return html`<section class="card"${attributes({ id })}>
${(title !== undefined || actions !== undefined) && html`<div class="card-header"><h2>${title}</h2>${meta !== undefined && html`<span class="meta">${meta}</span>`}${actions !== undefined && html`<div class="row">${actions}</div>`}</div>`}
${body}</section>`;
}

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad' | 'info';

/** Renders a state in a word or two. Work in progress is `info` or `neutral`, never `bad`. */
export function badge(label: Part, tone: Tone = 'neutral', sign?: IconName): Html {
  return html`<span class="badge ${tone}">${sign && icon(sign)}${label}</span>`;
}

/** Renders tags. With `hrefOf`, each links to the items that have it. */
export function tagList(tags: readonly string[], hrefOf?: (tag: string) => string): Html {
  if (tags.length === 0) return html``;
  const items = tags.map(
    (tag) =>
      html`<li>${hrefOf ? html`<a class="chip" href="${hrefOf(tag)}">${tag}</a>` : html`<span class="chip">${tag}</span>`}</li>`,
  );
  return html`<ul class="chips" aria-label="Tags">${items}</ul>`;
}

export interface Column {
  /** The head of the column and, on a phone, the label of each cell. Empty if there is none, as for a column of checkboxes. */
  label: Part;
  /** True for numbers, which are aligned at the end of the column. */
  isNumber?: boolean;
  /** True if the cells never wrap. */
  noWrap?: boolean;
  /** True for the column that takes the remaining width. Default: the first column. */
  isWide?: boolean;
  /** True if the column is hidden on a phone. */
  isExtra?: boolean;
  /** For a sortable column: the link that sorts by it, and its current order, if any. */
  sort?: { href: string; order?: 'ascending' | 'descending' };
}

/** The head of a column of buttons, for screen readers. */
export const actionsLabel = html`<span class="visually-hidden">Actions</span>`;

/** Renders a table. On a phone it is a list of labelled cards. */
export function table(options: {
  caption: string;
  columns: readonly Column[];
  rows: readonly (readonly Part[])[];
  id?: string;
}): Html {
  const { caption, columns, rows, id } = options;
  const wide = Math.max(
    0,
    columns.findIndex(({ isWide }) => isWide),
  );
  const classOf = (column: Column, index: number): string =>
    [
      column.isNumber && 'number',
      (column.noWrap || column.isNumber) && 'no-wrap',
      column.isExtra && 'extra',
      index === wide && 'wide',
    ]
      .filter(Boolean)
      .join(' ');
  const head = (column: Column, index: number): Html =>
    html`<th scope="col"${attributes({ class: classOf(column, index) || undefined, 'aria-sort': column.sort?.order })}>${
      column.sort
        ? html`<a href="${column.sort.href}">${column.label}${column.sort.order && icon(column.sort.order === 'ascending' ? 'chevron-up' : 'chevron-down')}</a>`
        : column.label
    }</th>`;
  const cell = (value: Part, index: number): Html => {
    const column = columns[index] ?? { label: '' };
    const label = typeof column.label === 'string' && column.label !== '' ? column.label : undefined;
    return html`<td${attributes({ class: classOf(column, index) || undefined, 'data-label': index === wide ? undefined : label })}>${value}</td>`;
  };
  return html`<div class="table-frame"><table${attributes({ id })}><caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map(head)}</tr></thead>
<tbody>${rows.map((row) => html`<tr tabindex="0">${row.map(cell)}</tr>`)}</tbody></table></div>`;
}

/** Renders a message in place of an empty list. It should say what belongs here and how to add it. */
export function emptyState(options: { icon: IconName; title: string; text?: Part; actions?: Part }): Html {
  return html`<div class="empty">${icon(options.icon)}<h2>${options.title}</h2>${options.text !== undefined && html`<p>${options.text}</p>`}${options.actions !== undefined && html`<div class="row">${options.actions}</div>`}</div>`;
}

const noticeIcons: Record<Tone, IconName> = {
  neutral: 'info',
  accent: 'info',
  info: 'info',
  good: 'circle-check',
  warn: 'triangle-alert',
  bad: 'circle-alert',
};

/** Renders a highlighted message, which says what happened and what to do. */
export function notice(message: Part, tone: Tone = 'info'): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'note'}">${icon(noticeIcons[tone])}<div>${message}</div></div>`;
}

/** Renders an error, which screen readers announce immediately. */
export function problem(message: string): Html {
  return notice(message, 'bad');
}

/** Renders names and values in two columns. */
export function facts(entries: readonly (readonly [name: Part, value: Part])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Renders a progress bar with its numbers. */
export function progress(done: number, total: number, label: string): Html {
  return html`<span class="progress"><progress max="${Math.max(1, total)}" value="${done}" aria-label="${label}"></progress><span class="figure">${number(done)} of ${number(total)}</span></span>`;
}

/** Renders a value between 0 and 1 as a bar with its number. */
export function meter(name: string, value: number): Html {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return html`<div class="meter"><span>${name}</span><meter min="0" max="100" value="${percent}" aria-label="${name}">${percent} %</meter><span class="figure">${value.toFixed(2)}</span></div>`;
}

/** Renders a large number with its label. */
export function stat(label: string, value: Part): Html {
  return html`<div class="stat"><span class="label">${label}</span><b>${value}</b></div>`;
}

/** Renders grey lines in place of content that is still loading. */
export function skeleton(count: number): Html {
  const line = html`<div class="skeleton"><i></i><i></i><i></i></div>`;
  return html`<div class="skeletons" aria-hidden="true">${Array.from({ length: count }, () => line)}</div>`;
}

/** Renders a message for `Page.toast` about what was just done, with an optional undo button. */
export function toast(message: Part, undo?: { action: string; fields?: Html }): Html {
  return html`<div class="toast" role="status" data-toast>${icon('circle-check')}<span>${message}</span>${
    undo &&
    html`<form method="post" action="${undo.action}">${undo.fields}${button('Undo', { kind: 'quiet', isSmall: true })}</form>`
  }</div>`;
}

/** Renders links to the views of one page. */
export function tabs(label: string, items: readonly { href: string; label: Part; isCurrent: boolean }[]): Html {
  return html`<nav class="tabs" aria-label="${label}">${items.map(({ href, label: name, isCurrent }) => html`<a href="${href}"${isCurrent && new Html(' aria-current="page"')}>${name}</a>`)}</nav>`;
}

/** Renders a text with a button that copies it. The script shows the button. */
export function copyable(id: string, text: string): Html {
  const copy = html`<button type="button" class="button quiet icon-only small" data-copy="#${id}" title="Copy" aria-label="Copy" hidden>${icon('copy')}</button>`;
  return html`<span class="copyable"><code id="${id}">${text}</code>${copy}</span>`;
}

export interface PageRange {
  offset: number;
  limit: number;
  total: number;
}

/** Renders links to the previous and next page of a list. */
export function pager(path: string, query: URLSearchParams, { offset, limit, total }: PageRange): Html {
  if (offset === 0 && total <= limit) return html``;
  const to = (start: number): string => {
    const next = new URLSearchParams(query);
    next.set('offset', String(start));
    return `${path}?${next}`;
  };
  return html`<nav class="pager" aria-label="More">
<span>${number(total === 0 ? 0 : offset + 1)}–${number(Math.min(offset + limit, total))} of ${number(total)}</span>
${offset > 0 && html`<a class="button secondary small" rel="prev" href="${to(Math.max(0, offset - limit))}">Previous</a>`}
${offset + limit < total && html`<a class="button secondary small" rel="next" href="${to(offset + limit)}">Next</a>`}
</nav>`;
}
