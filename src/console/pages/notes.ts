import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  card,
  changedTags,
  changeForm,
  emptyState,
  field,
  hidden,
  icon,
  linkButton,
  linkTo,
  offsetOf,
  pageHeader,
  pageNotFound,
  pager,
  plainText,
  plural,
  popupButton,
  readableText,
  tagFields,
  tagList,
  textArea,
  time,
  toast,
} from '../parts/parts.ts';
import { outcomeOf, redirectTo } from './done.ts';

const limit = 50;
const path = '/notes';

/** Shows the research notes that match the query and tag or, without these, all notes. */
export async function notesPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const text = (query.get('query') ?? '').trim();
  const tag = (query.get('tag') ?? '').trim();
  const answer = await tools.call('list_notes', {
    ...(text === '' ? {} : { query: text }),
    ...(tag === '' ? {} : { tags: [tag] }),
    limit,
    offset,
  });
  const notes = read.list(answer, 'notes');
  const total = read.number(answer, 'total_count') ?? offset + notes.length;
  const tagged = (name: string) => `${path}?tag=${encodeURIComponent(name)}`;
  return {
    title: 'Notes',
    toast: toastOf(query, tools),
    body: html`${pageHeader({
      title: 'Notes',
      meta: plural(total, 'note'),
      actions: html`${tools.has('notes_trash') && linkButton('/trash?kind=notes', 'Trash', { icon: 'trash-2', kind: 'quiet' })}${tools.has('save_note') && popupButton({ id: 'new', label: 'New note', title: 'New note', isLarge: true, style: { icon: 'plus', kind: 'primary' }, body: changeForm(`${path}/new`, 'Save', fields({})) })}`,
    })}
<form class="filters" method="get" action="${path}" data-live="#list">${field({ label: 'Words', name: 'query', type: 'search', value: text, placeholder: 'Search notes', icon: 'search', hidesLabel: true })}${tag !== '' && hidden('tag', tag)}<noscript>${button('Search')}</noscript></form>
<div id="list" aria-live="polite">
${tag !== '' && html`<p class="row">Tag ${badge(tag, 'accent', 'tag')} ${linkButton(path, 'Clear', { kind: 'quiet', isSmall: true, icon: 'x' })}</p>`}
${notes.length === 0 ? noNotes(text !== '' || tag !== '') : html`<ol class="hits">${notes.map((note) => noteItem(note, tagged))}</ol>`}
${pager(path, query, { offset, limit, total })}</div>`,
  };
}

function noNotes(isFiltered: boolean): Html {
  return isFiltered
    ? emptyState({ icon: 'list-filter', title: 'No matching notes', actions: linkButton(path, 'Show all notes') })
    : emptyState({
        icon: 'notebook-pen',
        title: 'No notes yet',
        text: 'Agents save what they find on the web here, with its sources. You can write notes, too.',
      });
}

function noteItem(note: Record<string, unknown>, tagged: (name: string) => string): Html {
  return html`<li class="hit" tabindex="0"><h2><a href="${path}/${read.text(note, 'id')}">${read.text(note, 'title')}</a></h2>
<p class="snippet">${plainText(read.text(note, 'snippet'))}</p>
<div class="row"><span class="meta">${time(read.text(note, 'created_at'))}</span>${tagList(read.texts(note, 'tags'), tagged)}</div></li>`;
}

function fields({
  title = '',
  content = '',
  tags = [],
  sources = [],
}: {
  title?: string;
  content?: string;
  tags?: readonly string[];
  sources?: readonly string[];
}): Html {
  return html`${field({ label: 'Title', name: 'title', value: title, isRequired: true, attributes: { maxlength: 200 } })}
${textArea({ label: 'Text', name: 'content', rows: 14, value: content, hint: 'Markdown' })}
${tagFields(tags)}
${textArea({ label: 'Sources', name: 'sources', rows: 2, value: sources.join('\n'), hint: 'One address per line', attributes: { required: false } })}`;
}

function toastOf(query: URLSearchParams, tools: Visit['tools']): Html | undefined {
  const outcome = outcomeOf(query);
  if (outcome?.change === 'saved') return toast('Saved');
  if (outcome?.change === 'restored') return toast('Note restored');
  if (outcome?.change !== 'deleted') return undefined;
  const [id = ''] = outcome.ids;
  return toast(
    'Note deleted',
    tools.has('delete_note') ? { action: `${path}/${encodeURIComponent(id)}/restore` } : undefined,
  );
}

export async function notePage({ tools, subpath, query }: Visit): Promise<Page> {
  // Encoded, so that an id from the URL cannot send the form elsewhere.
  const url = `${path}/${encodeURIComponent(subpath)}`;
  const note = read.object(await tools.call('get_note', { id: subpath }), 'note');
  const tags = read.texts(note, 'tags');
  const [title, content] = [read.text(note, 'title'), read.text(note, 'content')];
  const sources = read.texts(note, 'source_urls');
  const [created, updated] = [read.text(note, 'created_at'), read.text(note, 'updated_at')];
  return {
    title,
    toast: toastOf(query, tools),
    body: html`${pageHeader({
      title,
      trail: [{ href: path, label: 'Notes' }],
      meta: html`Written ${time(created)}${updated !== created && html` · changed ${time(updated)}`}`,
      actions: html`${tools.has('update_note') && popupButton({ id: 'edit', label: 'Edit', title: 'Edit the note', isLarge: true, style: { icon: 'pencil' }, body: changeForm(`${url}/save`, 'Save', fields({ title, content, tags, sources })) })}${tools.has('delete_note') && html`<form method="post" action="${url}/delete">${button('Delete', { kind: 'danger', icon: 'trash-2' })}</form>`}`,
    })}
<div class="stack">${tagList(tags, (tag) => `${path}?tag=${encodeURIComponent(tag)}`)}
<article class="card">${readableText(content, query.get('mark'))}</article>
${sources.length > 0 && card(html`<ul class="links">${sources.map((source) => html`<li>${icon('external-link')}${linkTo(source, source)}</li>`)}</ul>`, { title: 'Sources' })}</div>`,
  };
}

export async function changeNote({ tools, subpath, form }: Visit): Promise<string> {
  const [id = '', change = ''] = subpath.split('/');
  const url = `${path}/${encodeURIComponent(id)}`;
  if (id === 'new' || change === 'save') {
    const values = {
      title: form.get('title') ?? '',
      content: form.get('content') ?? '',
      ...changedTags(form),
      ...sourcesOf(form),
    };
    if (id !== 'new') await tools.call('update_note', { id, ...values });
    const saved = id === 'new' ? read.object(await tools.call('save_note', values), 'note') : { id };
    return redirectTo(`${path}/${encodeURIComponent(read.text(saved, 'id'))}`, 'saved');
  }
  switch (change) {
    case 'restore':
      await tools.call('delete_note', { id, restore: true });
      return redirectTo(url, 'restored');
    case 'delete':
      await tools.call('delete_note', { id });
      return redirectTo(path, 'deleted', [id]);
    default:
      throw pageNotFound();
  }
}

function sourcesOf(form: URLSearchParams): { source_urls?: string[] } {
  const sources = form.get('sources');
  return sources === null ? {} : { source_urls: sources.split(/\s+/).filter((url) => url !== '') };
}
