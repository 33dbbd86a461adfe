import { read, type Visit } from '../console-tools.ts';
import { fieldValue, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  changedTags,
  changeForm,
  linkTo,
  noSuchChange,
  offsetOf,
  pager,
  tagFields,
  tagList,
  textArea,
  time,
  withPassage,
} from './parts.ts';

const limit = 50;
const path = '/notes';

export async function notesPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const text = (query.get('query') ?? '').trim();
  const answer = await tools.call('list_notes', { ...(text === '' ? {} : { query: text }), limit, offset });
  const notes = read.list(answer, 'notes');
  const total = read.number(answer, 'total') ?? offset + notes.length;
  return {
    title: 'Notes',
    body: html`<h1>Notes</h1>
<form class="filters" method="get" action="${path}" data-live="#list"><label>Words <input type="search" name="query" value="${text}"></label><button>Show</button></form>
<div id="list" aria-live="polite">
${notes.length === 0 && html`<p class="summary">No notes.</p>`}
<ol class="hits">${notes.map(
      (
        note,
      ) => html`<li class="hit" tabindex="0"><h2><a href="${path}/${read.text(note, 'id')}">${read.text(note, 'title')}</a></h2>
<p class="place">${time(read.text(note, 'created_at'))}</p><p>${read.text(note, 'snippet')}</p>${tagList(read.texts(note, 'tags'))}</li>`,
    )}</ol>
${pager(path, query, { offset, limit, total })}</div>
${tools.has('save_note') && html`<details><summary>New note</summary>${changeForm(`${path}/new`, 'Save', fields('', '', []))}</details>`}`,
  };
}

const fields = (
  title: string,
  content: string,
  tags: readonly string[],
) => html`<label>Title <input name="title" required maxlength="200" value="${fieldValue(title)}"></label>
<label>Text ${textArea('content', 10, content)}</label>
${tagFields(tags)}`;

export async function notePage({ tools, rest, query }: Visit): Promise<Page> {
  // What an address has in it must not be able to lead the form elsewhere.
  const own = `${path}/${encodeURIComponent(rest)}`;
  if (query.get('deleted') === '1' && tools.has('delete_note')) {
    return {
      title: 'Deleted',
      body: html`<h1>The note is deleted</h1><p>It can be restored for 30 days.</p>${changeForm(`${own}/restore`, 'Restore')}`,
    };
  }
  const note = read.object(await tools.call('get_note', { id: rest }), 'note');
  const tags = read.texts(note, 'tags');
  const title = read.text(note, 'title');
  return {
    title,
    body: html`<h1>${title}</h1><p class="place">${time(read.text(note, 'created_at'))}</p>${tagList(tags)}
<article><p class="text">${withPassage(read.text(note, 'content'), query.get('mark'))}</p></article>
<ul>${read.texts(note, 'source_urls').map((url) => html`<li>${linkTo(url, url)}</li>`)}</ul>
<section class="changes" aria-label="Change">
${tools.has('update_note') && html`<details><summary>Edit</summary>${changeForm(`${own}/save`, 'Save', fields(title, read.text(note, 'content'), tags))}</details>`}
${tools.has('delete_note') && changeForm(`${own}/delete`, 'Delete')}</section>`,
  };
}

export async function changeNote({ tools, rest, form }: Visit): Promise<string> {
  const [id = '', change = ''] = rest.split('/');
  const own = `${path}/${encodeURIComponent(id)}`;
  const given = { title: form.get('title') ?? '', content: form.get('content') ?? '', ...changedTags(form) };
  if (id === 'new') return `${path}/${read.text(read.object(await tools.call('save_note', given), 'note'), 'id')}`;
  if (!['save', 'restore', 'delete'].includes(change)) throw noSuchChange();
  if (change === 'save') await tools.call('update_note', { id, ...given });
  if (change === 'restore') await tools.call('delete_note', { id, restore: true });
  if (change !== 'delete') return own;
  await tools.call('delete_note', { id });
  return `${own}?deleted=1`;
}
