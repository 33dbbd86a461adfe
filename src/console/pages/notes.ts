import { read, type Visit } from '../console-tools.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  button,
  changedTags,
  changeForm,
  emptyState,
  field,
  linkTo,
  noSuchChange,
  offsetOf,
  pageHeader,
  pager,
  tagFields,
  tagList,
  textArea,
  time,
  withPassage,
} from '../parts/parts.ts';

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
    body: html`${pageHeader({ title: 'Notes' })}
<form class="filters" method="get" action="${path}" data-live="#list">${field({ label: 'Words', name: 'query', type: 'search', value: text, placeholder: 'Search notes', icon: 'search', hidesLabel: true })}${button('Search')}</form>
<div id="list" aria-live="polite">
${notes.length === 0 && emptyState({ icon: 'notebook-pen', title: 'No notes' })}
<ol class="hits">${notes.map(
      (
        note,
      ) => html`<li class="hit" tabindex="0"><h2><a href="${path}/${read.text(note, 'id')}">${read.text(note, 'title')}</a></h2>
<p class="meta">${time(read.text(note, 'created_at'))}</p><p>${read.text(note, 'snippet')}</p>${tagList(read.texts(note, 'tags'))}</li>`,
    )}</ol>
${pager(path, query, { offset, limit, total })}</div>
${tools.has('save_note') && html`<details><summary>New note</summary>${changeForm(`${path}/new`, 'Save', fields('', '', []))}</details>`}`,
  };
}

const fields = (
  title: string,
  content: string,
  tags: readonly string[],
) => html`${field({ label: 'Title', name: 'title', value: title, isRequired: true, attributes: { maxlength: 200 } })}
${textArea({ label: 'Text', name: 'content', value: content })}
${tagFields(tags)}`;

export async function notePage({ tools, rest, query }: Visit): Promise<Page> {
  // What an address has in it must not be able to lead the form elsewhere.
  const own = `${path}/${encodeURIComponent(rest)}`;
  if (query.get('deleted') === '1' && tools.has('delete_note')) {
    return {
      title: 'Deleted',
      body: html`${pageHeader({ title: 'Note deleted', meta: 'It can be restored for 30 days.' })}${changeForm(`${own}/restore`, 'Restore')}`,
    };
  }
  const note = read.object(await tools.call('get_note', { id: rest }), 'note');
  const tags = read.texts(note, 'tags');
  const title = read.text(note, 'title');
  return {
    title,
    body: html`${pageHeader({ title, trail: [{ href: path, label: 'Notes' }], meta: time(read.text(note, 'created_at')) })}
<div class="stack">${tagList(tags)}
<article class="card"><p class="text">${withPassage(read.text(note, 'content'), query.get('mark'))}</p></article>
<ul>${read.texts(note, 'source_urls').map((url) => html`<li>${linkTo(url, url)}</li>`)}</ul>
${tools.has('update_note') && html`<details><summary>Edit</summary>${changeForm(`${own}/save`, 'Save', fields(title, read.text(note, 'content'), tags))}</details>`}
${tools.has('delete_note') && changeForm(`${own}/delete`, 'Delete', html``, { kind: 'danger', icon: 'trash-2' })}</div>`,
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
