import { findMatches } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';
import { read } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import { renderMarkdown } from './markdown.ts';

/** Returns the path of the console's page for a URI. Returns web addresses unchanged, and undefined for other URIs. */
export function pageOf(uri: string): string | undefined {
  const [, kind, id] = /^carrel:\/\/(kb\/doc|notes|context)\/([\w-]{1,100})$/.exec(uri) ?? [];
  if (id === undefined) return /^https?:\/\//.test(uri) ? uri : undefined;
  return `${{ 'kb/doc': '/documents', notes: '/notes', context: '/memories/entry' }[kind ?? '']}/${id}`;
}

/** Renders a link to a page of the console or, without sending a referrer, to another site. */
export function linkTo(uri: string, text: Part, page = pageOf(uri)): Html {
  if (page === undefined) return html`<span>${text}</span>`;
  return page.startsWith('/')
    ? html`<a href="${page}">${text}</a>`
    : html`<a href="${page}" rel="noopener noreferrer" target="_blank">${text}</a>`;
}

/** Returns the URL of a hit's page, at the passage that was found. */
export function passagePage(uri: string, hit: Record<string, unknown>): string | undefined {
  const page = pageOf(uri);
  if (page === undefined || !page.startsWith('/')) return page;
  const chunk = read.number(hit, 'chunk_index');
  // Starts two chunks earlier, for context.
  if (chunk !== undefined) return `${page}?offset=${Math.max(0, chunk - 2)}#chunk-${chunk}`;
  const range = hit['range'];
  return Array.isArray(range) ? `${page}?mark=${range.map(Number).join('-')}#mark` : page;
}

/** Marks a passage, such as `120-340` from the URL. */
function withPassage(text: string, range: string | null): Html {
  const [, from, to] = /^(\d{1,8})-(\d{1,8})$/.exec(range ?? '') ?? [];
  const [start, end] = [Number(from ?? 0), Math.min(Number(to ?? 0), text.length)];
  // A passage that is the whole text needs no mark.
  if (end <= start || end - start === text.length) return html`${text}`;
  return html`${text.slice(0, start)}<mark id="mark">${text.slice(start, end)}</mark>${text.slice(end)}`;
}

/** Max characters to render as Markdown. Longer texts would delay other requests. */
const renderedCharsMax = 100_000;

/** Renders a text as Markdown. If the URL names a passage, renders plain text with the passage marked. */
export function readableText(text: string, range: string | null): Html {
  return range === null && text.length <= renderedCharsMax
    ? html`<div class="prose">${renderMarkdown(text)}</div>`
    : html`<div class="text">${withPassage(text, range)}</div>`;
}

/** Returns a function that marks the words of the query in a text, in any inflection. Stop words are not marked. */
export function marker(query: string): (text: string) => Html {
  const words = plainQuery(query, { allowsQuestionWords: false });
  return (text) => {
    const parts: Part[] = [];
    let done = 0;
    for (const { start, end } of findMatches(text, words)) {
      if (start < done) continue;
      parts.push(text.slice(done, start), html`<mark>${text.slice(start, end)}</mark>`);
      done = end;
    }
    return html`${[...parts, text.slice(done)]}`;
  };
}
