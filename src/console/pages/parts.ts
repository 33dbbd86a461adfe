import { CarrelError } from '../../base/errors.ts';
import { findMatches } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';
import { read } from '../console-tools.ts';
import { fieldValue, type Html, html, type Part } from '../html.ts';

/** The page of the console that shows what a URI names; undefined if it has none. */
export function pageOf(uri: string): string | undefined {
  const [, kind, id] = /^carrel:\/\/(kb\/doc|notes|context)\/([\w-]{1,100})$/.exec(uri) ?? [];
  if (id === undefined) return /^https?:\/\//.test(uri) ? uri : undefined;
  return `${{ 'kb/doc': '/documents', notes: '/notes', context: '/memories/entry' }[kind ?? '']}/${id}`;
}

/** A link to another page of the console, or away from it without telling from where. */
export function linkTo(uri: string, text: Part, page = pageOf(uri)): Html {
  if (page === undefined) return html`<span>${text}</span>`;
  return page.startsWith('/')
    ? html`<a href="${page}">${text}</a>`
    : html`<a href="${page}" rel="noopener noreferrer" target="_blank">${text}</a>`;
}

/** A share between 0 and 1 as a bar; it is read out as a number. */
export function bar(name: string, share: number): Html {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return html`<div class="bar"><span>${name}</span><meter min="0" max="100" value="${percent}">${percent} %</meter><span class="figure">${share.toFixed(2)}</span></div>`;
}

/** The page of a hit, at the passage that was found. */
export function passagePage(uri: string, hit: Record<string, unknown>): string | undefined {
  const page = pageOf(uri);
  if (page === undefined || !page.startsWith('/')) return page;
  const chunk = read.number(hit, 'chunk_index');
  // With a little of what stands before it.
  if (chunk !== undefined) return `${page}?offset=${Math.max(0, chunk - 2)}#chunk-${chunk}`;
  const range = hit['range'];
  return Array.isArray(range) ? `${page}?mark=${range.map(Number).join('-')}#mark` : page;
}

/** The text with the passage marked that an address asks for, if it asks for one. */
export function withPassage(text: string, asked: string | null): Html {
  const [, from, to] = /^(\d{1,8})-(\d{1,8})$/.exec(asked ?? '') ?? [];
  const [start, end] = [Number(from ?? 0), Math.min(Number(to ?? 0), text.length)];
  // A passage that is the whole text needs no mark.
  if (end <= start || end - start === text.length) return html`${text}`;
  return html`${text.slice(0, start)}<mark id="mark">${text.slice(start, end)}</mark>${text.slice(end)}`;
}

/** The text with the words of a query marked, in whatever form, but not those that every question has. */
export function marked(text: string, query: string): Html {
  const parts: Part[] = [];
  let done = 0;
  for (const { start, end } of findMatches(text, plainQuery(query, { alone: false }))) {
    if (start < done) continue;
    parts.push(text.slice(done, start), html`<mark>${text.slice(start, end)}</mark>`);
    done = end;
  }
  return html`${[...parts, text.slice(done)]}`;
}

export function time(iso: string): Html {
  return iso === '' ? html`` : html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

/** A size in words, to three digits. */
export function bytes(count: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${Number((count / 1000 ** step).toPrecision(3))} ${units[step]}`;
}

/** A length of time in words, as exact as one wants to know it. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

export function tagList(tags: readonly string[], pathOf?: (tag: string) => string): Html {
  if (tags.length === 0) return html``;
  const items = tags.map((tag) => html`<li>${pathOf ? html`<a href="${pathOf(tag)}">${tag}</a>` : tag}</li>`);
  return html`<ul class="tags" aria-label="Tags">${items}</ul>`;
}

/** Links to the pages before and after, where a list is longer than one page. */
export function pager(path: string, query: URLSearchParams, { offset, limit, total }: Window): Html {
  if (offset === 0 && total <= limit) return html``;
  const to = (start: number): string => {
    const next = new URLSearchParams(query);
    next.set('offset', String(start));
    return `${path}?${next}`;
  };
  return html`<nav class="pager" aria-label="More">
${offset > 0 && html`<a rel="prev" href="${to(Math.max(0, offset - limit))}">Previous</a>`}
<span>${total === 0 ? 0 : offset + 1}–${Math.min(offset + limit, total)} of ${total}</span>
${offset + limit < total && html`<a rel="next" href="${to(offset + limit)}">Next</a>`}
</nav>`;
}

export interface Window {
  offset: number;
  limit: number;
  total: number;
}

export function offsetOf(query: URLSearchParams): number {
  const given = Number(query.get('offset') ?? 0);
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

/** A form that changes something: only where the tool for it is offered. */
export function changeForm(action: string, label: string, fields: Html = html``): Html {
  return html`<form method="post" action="${action}">${fields}<button>${label}</button></form>`;
}

/** A text to edit. HTML drops a line break right after the tag, so one is there to be dropped. */
export function textArea(name: string, rows: number, text: string): Html {
  return html`<textarea name="${name}" rows="${rows}" required>\n${fieldValue(text)}</textarea>`;
}

/** Tags to edit, between commas, and beside them how they were. */
export function tagFields(tags: readonly string[]): Html {
  const value = fieldValue(tags.join(', '));
  return html`<label>Tags <input name="tags" value="${value}"></label><input type="hidden" name="before" value="${value}">`;
}

/** The tags of a form, if they were changed: a tag with a comma in it would become two otherwise. */
export function changedTags(form: URLSearchParams): { tags?: string[] } {
  return form.get('tags') === form.get('before') ? {} : { tags: listOf(form.get('tags')) };
}

/** Names between commas. */
export function listOf(text: string | null): string[] {
  return [...new Set((text ?? '').split(',').map((each) => each.trim()))].filter((each) => each !== '');
}

/** For a form that changes nothing that there is. */
export function noSuchChange(): CarrelError {
  return new CarrelError('resource_not_found', 'There is no page at this address.');
}

export function problem(message: string): Html {
  return html`<p class="problem" role="alert">${message}</p>`;
}
