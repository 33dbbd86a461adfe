import { read, type Visit } from '../console-tools.ts';
import { Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  changeForm,
  dayName,
  emptyState,
  field,
  hidden,
  icon,
  linkButton,
  number,
  offsetOf,
  pageHeader,
  pager,
  plural,
  popupButton,
  renderMarkdown,
  select,
  table,
  tagList,
  textArea,
  time,
  toast,
} from '../parts/parts.ts';
import { outcomeOf } from './done.ts';
import { entryUrl, memoryPath as path, replacedId, threadUrl } from './memory.ts';

const threadsLimit = 50;
const entriesLimit = 30;
/** Max characters of a memory in a conversation. The memory's own page shows all. */
const shownChars = 1_200;

/** Shows the list of threads, or one thread as a conversation. */
export async function memoriesPage(visit: Visit): Promise<Page> {
  const thread = visit.query.get('thread');
  return thread === null ? await threadsPage(visit) : await conversationPage(visit, thread);
}

async function threadsPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const filter = (query.get('filter') ?? '').trim();
  const answer = await tools.call('list_threads', {
    ...(filter === '' ? {} : { filter }),
    limit: threadsLimit,
    offset,
  });
  const threads = read.list(answer, 'threads');
  const total = read.number(answer, 'total_threads') ?? threads.length;
  return {
    title: 'Memories',
    layout: 'wide',
    toast: toastOf(query, tools),
    body: html`${pageHeader({
      title: 'Memories',
      meta: plural(total, 'thread'),
      actions: html`${tools.has('context_trash') && linkButton('/trash?kind=memories', 'Trash', { icon: 'trash-2', kind: 'quiet' })}${tools.has('store_context') && newMemory()}`,
    })}
<form class="filters" method="get" action="${path}" data-live="#list">${field({ label: 'Thread', name: 'filter', type: 'search', value: filter, placeholder: 'Filter threads', icon: 'search', hidesLabel: true })}<noscript>${button('Filter', { icon: 'list-filter' })}</noscript></form>
<div id="list" aria-live="polite">
${threads.length === 0 ? noThreads(filter) : threadTable(threads)}
${pager(path, query, { offset, limit: threadsLimit, total })}</div>`,
  };
}

function noThreads(filter: string): Html {
  return filter === ''
    ? emptyState({
        icon: 'brain',
        title: 'No memories yet',
        text: 'What agents remember appears here, in one thread per conversation or task.',
        actions: linkButton('/connect', 'Connect a client', { icon: 'plug' }),
      })
    : emptyState({ icon: 'list-filter', title: 'No matching threads', actions: linkButton(path, 'Clear filter') });
}

function threadTable(threads: readonly Record<string, unknown>[]): Html {
  return table({
    caption: 'Threads',
    columns: [
      { label: 'Thread' },
      { label: 'Memories', isNumber: true },
      { label: 'Started', noWrap: true },
      { label: 'Last', noWrap: true },
    ],
    rows: threads.map((thread) => {
      const id = read.text(thread, 'thread_id');
      return [
        html`<a class="title" href="${threadUrl(id)}">${icon('messages-square')}<span>${id}</span></a>`,
        number(read.number(thread, 'entry_count') ?? 0),
        time(read.text(thread, 'first_entry')),
        time(read.text(thread, 'last_entry')),
      ];
    }),
  });
}

function newMemory(): Html {
  return popupButton({
    id: 'new',
    label: 'New memory',
    title: 'New memory',
    isLarge: true,
    style: { icon: 'plus', kind: 'primary' },
    body: changeForm(
      `${path}/new`,
      'Save',
      html`${field({ label: 'Thread', name: 'thread', isRequired: true, hint: 'Names the conversation or task.' })}${textArea({ label: 'Text', name: 'text', rows: 8 })}${field({ label: 'Tags', name: 'tags', placeholder: 'Separate with commas' })}`,
    ),
  });
}

function toastOf(query: URLSearchParams, tools: Visit['tools']): Html | undefined {
  const outcome = outcomeOf(query);
  if (outcome?.change === 'saved') return toast('Saved');
  if (outcome?.change === 'restored') return toast('Memory restored');
  if (outcome?.change !== 'deleted') return undefined;
  const [id = ''] = outcome.ids;
  return toast('Memory deleted', tools.has('restore_context') ? { action: `${entryUrl(id)}/restore` } : undefined);
}

/** Shows the latest memories of a thread, in the order in which they were written. */
async function conversationPage({ tools, query }: Visit, thread: string): Promise<Page> {
  const offset = offsetOf(query);
  const answer = await tools.call('search_context', { thread_id: thread, limit: entriesLimit, offset });
  const listed = read.list(answer, 'results');
  const ids = listed.map((entry) => read.number(entry, 'id') ?? 0);
  const [full, replacing] = await Promise.all([fullEntries(tools, ids), replacingEntries(tools, ids)]);
  const entries = listed.map((entry) => full.get(read.number(entry, 'id') ?? 0) ?? entry).toReversed();
  const hasMore = answer['has_more'] === true;
  const older = new URLSearchParams({ thread, offset: String(offset + entriesLimit) });
  const newer = new URLSearchParams({ thread, offset: String(Math.max(0, offset - entriesLimit)) });
  const items = entries.map(
    (entry, index) => html`${dayLine(entry, entries[index - 1])}${bubble(entry, replacing, tools)}`,
  );
  return {
    title: thread,
    toast: toastOf(query, tools),
    body: html`${pageHeader({ title: thread, trail: [{ href: path, label: 'Memories' }] })}
${entries.length === 0 && emptyState({ icon: 'messages-square', title: 'No memories in this thread' })}
<div class="row center">${hasMore && linkButton(`${path}?${older}`, 'Earlier memories', { isSmall: true, icon: 'chevron-up' })}</div>
<ol class="conversation">${items}</ol>
<div class="row center">${offset > 0 && linkButton(`${path}?${newer}`, 'Later memories', { isSmall: true, icon: 'chevron-down' })}</div>
${tools.has('store_context') && offset === 0 && composer(thread)}`,
  };
}

/** Renders the day above a memory, hidden if the previous memory has the same. The script adjusts it to the reader's time zone. */
function dayLine(entry: Record<string, unknown>, before: Record<string, unknown> = {}): Html {
  const [at, atBefore] = [read.text(entry, 'created_at'), read.text(before, 'created_at')];
  const day = dayName(Date.parse(at));
  return html`<li class="day"${day === dayName(Date.parse(atBefore)) && new Html(' hidden')}><time datetime="${at}" data-day>${day}</time></li>`;
}

/** Loads the full texts of entries that the list has truncated. */
async function fullEntries(
  tools: Visit['tools'],
  ids: readonly number[],
): Promise<Map<number, Record<string, unknown>>> {
  if (ids.length === 0) return new Map();
  const answer = await tools.call('get_context_by_ids', { context_ids: ids, include_images: false });
  return new Map(read.list(answer, 'result').map((entry) => [read.number(entry, 'id') ?? 0, entry]));
}

/** Finds the memories, in any thread, that replaced these. Returns their ids by the id of the replaced memory. */
async function replacingEntries(tools: Visit['tools'], ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const answer = await tools.call('search_context', {
    metadata_filters: [{ key: 'references.replaces', operator: 'in', value: ids }],
    limit: 100,
  });
  return new Map(
    read.list(answer, 'results').flatMap((entry) => {
      const replaced = replacedId(entry);
      return replaced === undefined ? [] : [[replaced, read.number(entry, 'id') ?? 0]];
    }),
  );
}

function bubble(entry: Record<string, unknown>, replacing: ReadonlyMap<number, number>, tools: Visit['tools']): Html {
  const id = read.number(entry, 'id') ?? 0;
  const source = read.text(entry, 'source');
  const text = read.text(entry, 'text_content');
  const [replacedBy, replaces] = [replacing.get(id), replacedId(entry)];
  const isTruncated = text.length > shownChars || entry['is_text_content_truncated'] === true;
  return html`<li class="memory ${source === 'user' ? 'user' : 'agent'}${replacedBy !== undefined && ' replaced'}" id="memory-${id}" tabindex="0">
<div class="memory-head">${icon(source === 'user' ? 'user' : 'bot', source)}<b>${source === 'user' ? 'User' : 'Agent'}</b><a class="meta" href="${entryUrl(id)}">${time(read.text(entry, 'created_at'))}</a>
${replacedBy !== undefined && html`<a href="${entryUrl(replacedBy)}">${badge(`Replaced by ${replacedBy}`, 'warn', 'history')}</a>`}${replaces !== undefined && html`<a href="${entryUrl(replaces)}">${badge(`Replaces ${replaces}`, 'neutral', 'history')}</a>`}
${tools.has('delete_context') && html`<form class="on-hover" method="post" action="${entryUrl(id)}/delete">${button('Delete', { kind: 'quiet', isSmall: true })}</form>`}</div>
<div class="prose">${renderMarkdown(isTruncated ? `${text.slice(0, shownChars)} …` : text)}</div>${isTruncated && html`<p><a href="${entryUrl(id)}">Read all</a></p>`}
${tagList(read.texts(entry, 'tags'))}</li>`;
}

function composer(thread: string): Html {
  return html`<form class="card composer" method="post" action="${path}/new">${hidden('thread', thread)}
${textArea({ label: 'New memory', name: 'text', rows: 3, hidesLabel: true, attributes: { placeholder: 'Add a memory to this thread' } })}
<div class="row">${field({ label: 'Tags', name: 'tags', placeholder: 'Tags, separated by commas', hidesLabel: true })}${select(
    {
      label: 'Written by',
      name: 'source',
      hidesLabel: true,
      options: [
        { value: 'user', label: 'As the user' },
        { value: 'agent', label: 'As the agent' },
      ],
      value: 'user',
    },
  )}${button('Save', { kind: 'primary' })}</div></form>`;
}
