import { isObject } from '../../base/json.ts';
import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  changedTags,
  changeForm,
  emptyState,
  field,
  noSuchChange,
  number,
  offsetOf,
  pageHeader,
  pager,
  table,
  tagFields,
  tagList,
  textArea,
  time,
  withPassage,
} from '../parts/parts.ts';

const limit = 50;
const path = '/memories';

/** The threads of the memory, or the entries of one as a timeline. */
export async function memoriesPage(visit: Visit): Promise<Page> {
  const thread = visit.query.get('thread');
  return thread === null ? await threadsPage(visit) : await timelinePage(visit, thread);
}

async function threadsPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const filter = (query.get('filter') ?? '').trim();
  const answer = await tools.call('list_threads', { ...(filter === '' ? {} : { filter }), limit, offset });
  const threads = read.list(answer, 'threads');
  return {
    title: 'Memories',
    body: html`${pageHeader({ title: 'Memories' })}
<form class="filters" method="get" action="${path}" data-live="#list">${field({ label: 'Thread', name: 'filter', type: 'search', value: filter, placeholder: 'Thread', icon: 'search', hidesLabel: true })}${button('Filter', { icon: 'list-filter' })}</form>
<div id="list" aria-live="polite">
${
  threads.length === 0
    ? emptyState({ icon: 'brain', title: 'No threads', text: 'What agents remember appears here.' })
    : table({
        caption: 'Threads',
        columns: [{ label: 'Thread' }, { label: 'Entries', isNumber: true }, { label: 'Last', isWhole: true }],
        rows: threads.map((thread) => {
          const id = read.text(thread, 'thread_id');
          return [
            html`<a href="${path}?thread=${encodeURIComponent(id)}">${id}</a>`,
            number(read.number(thread, 'entry_count') ?? 0),
            time(read.text(thread, 'last_entry')),
          ];
        }),
      })
}
${pager(path, query, { offset, limit, total: read.number(answer, 'total_threads') ?? threads.length })}</div>`,
  };
}

async function timelinePage({ tools, query }: Visit, thread: string): Promise<Page> {
  const offset = offsetOf(query);
  const answer = await tools.call('search_context', { thread_id: thread, limit, offset });
  const entries = read.list(answer, 'results');
  const more = answer['has_more'] === true ? 1 : 0;
  return {
    title: thread,
    body: html`${pageHeader({ title: thread, trail: [{ href: path, label: 'Memories' }] })}
<ol class="hits timeline">${entries.map(timelineEntry)}</ol>
${pager(path, query, { offset, limit, total: offset + entries.length + more })}`,
  };
}

function timelineEntry(entry: Record<string, unknown>): Html {
  const id = read.text(entry, 'id');
  return html`<li class="hit" tabindex="0"><p class="meta">${badge(read.text(entry, 'source'))} <a href="${path}/entry/${id}">${time(read.text(entry, 'created_at'))}</a></p>
<p class="text">${read.text(entry, 'text_content')}</p>${tagList(read.texts(entry, 'tags'))}</li>`;
}

export async function entryPage({ tools, rest, query }: Visit): Promise<Page> {
  const id = Number(rest.replace(/^entry\//, ''));
  const own = `${path}/entry/${id}`;
  if (query.get('deleted') === '1' && tools.has('restore_context')) {
    return {
      title: 'Deleted',
      body: html`${pageHeader({ title: 'Entry deleted', meta: 'It can be restored for 30 days.' })}${changeForm(`${own}/restore`, 'Restore')}`,
    };
  }
  const [entry] = read.list(
    await tools.call('get_context_by_ids', { context_ids: [id], include_images: false }),
    'result',
  );
  if (entry === undefined)
    return {
      title: 'Not found',
      status: 404,
      body: pageHeader({ title: 'Not found', meta: `No entry has the id ${rest}.` }),
    };
  const [text, thread] = [read.text(entry, 'text_content'), read.text(entry, 'thread_id')];
  const tags = read.texts(entry, 'tags');
  const metadata = entry['metadata'];
  return {
    title: `Memory ${id}`,
    body: html`${pageHeader({
      title: `Memory ${id}`,
      trail: [
        { href: path, label: 'Memories' },
        { href: `${path}?thread=${encodeURIComponent(thread)}`, label: thread },
      ],
      meta: html`${read.text(entry, 'source')} · ${time(read.text(entry, 'created_at'))}`,
    })}
<div class="stack">${tagList(tags)}
<article class="card"><p class="text">${withPassage(text, query.get('mark'))}</p></article>
${isObject(metadata) && html`<pre>${JSON.stringify(metadata, null, 2)}</pre>`}
${tools.has('update_context') && html`<details><summary>Edit</summary>${changeForm(`${own}/save`, 'Save', html`${textArea({ label: 'Text', name: 'text', value: text })}${tagFields(tags)}`)}</details>`}
${tools.has('delete_context') && changeForm(`${own}/delete`, 'Delete', html``, { kind: 'danger', icon: 'trash-2' })}</div>`,
  };
}

export async function changeEntry({ tools, rest, form }: Visit): Promise<string> {
  const [, given = '', change = ''] = rest.split('/');
  if (!['save', 'restore', 'delete'].includes(change)) throw noSuchChange();
  const id = Number(given);
  const own = `${path}/entry/${id}`;
  if (change === 'save') {
    await tools.call('update_context', {
      context_id: id,
      text: form.get('text') ?? '',
      ...changedTags(form),
    });
  }
  if (change === 'restore') await tools.call('restore_context', { context_ids: [id] });
  if (change !== 'delete') return own;
  await tools.call('delete_context', { context_ids: [id] });
  return `${own}?deleted=1`;
}
