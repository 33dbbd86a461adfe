import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  button,
  card,
  changedTags,
  changeForm,
  facts,
  field,
  hidden,
  icon,
  linkButton,
  listOf,
  notice,
  pageHeader,
  pageNotFound,
  popupButton,
  readableText,
  tagFields,
  tagList,
  textArea,
  time,
  toast,
} from '../parts/parts.ts';
import { outcomeOf, redirectTo } from './done.ts';

export const memoryPath = '/memories';
const path = memoryPath;

export function threadUrl(thread: string): string {
  return `${memoryPath}?thread=${encodeURIComponent(thread)}`;
}

export function entryUrl(id: number | string): string {
  return `${memoryPath}/entry/${encodeURIComponent(id)}`;
}

/** Returns the id of the memory that this one replaces. */
export function replacedId(entry: Record<string, unknown>): number | undefined {
  return read.number(read.object(read.object(entry, 'metadata'), 'references'), 'replaces');
}

/** Shows one memory: text, replacements and metadata. */
export async function entryPage({ tools, subpath, query }: Visit): Promise<Page> {
  const id = Number(subpath.replace(/^entry\//, ''));
  const entry = await findEntry(tools, id);
  if (entry === undefined) {
    return {
      title: 'Not found',
      status: 404,
      body: html`${pageHeader({ title: 'Not found', meta: 'No memory has this id. It may have been deleted.' })}${linkButton('/trash?kind=memories', 'Look in the trash')}`,
    };
  }
  const url = entryUrl(id);
  const text = read.text(entry, 'text_content');
  const thread = read.text(entry, 'thread_id');
  const source = read.text(entry, 'source');
  const tags = read.texts(entry, 'tags');
  const metadata = entry['metadata'];
  const shownMetadata = isObject(metadata) ? JSON.stringify(metadata, null, 2) : '';
  const isChanged = read.text(entry, 'updated_at') !== read.text(entry, 'created_at');
  const outcome = outcomeOf(query);
  return {
    title: `Memory ${id}`,
    layout: 'wide',
    toast:
      outcome?.change === 'saved'
        ? toast('Saved')
        : outcome?.change === 'restored'
          ? toast('Memory restored')
          : undefined,
    body: html`${pageHeader({
      title: `Memory ${id}`,
      trail: [
        { href: path, label: 'Memories' },
        { href: threadUrl(thread), label: thread },
      ],
      meta: html`<span class="row">${icon(source === 'user' ? 'user' : 'bot')}<span>${source === 'user' ? 'User' : 'Agent'} · ${time(read.text(entry, 'created_at'))}</span></span>`,
      actions: html`${tools.has('update_context') && editButton(url, { text, tags, metadata: shownMetadata })}${tools.has('store_context') && replaceButton(thread, id)}${tools.has('delete_context') && html`<form method="post" action="${url}/delete">${button('Delete', { kind: 'danger', icon: 'trash-2' })}</form>`}`,
    })}
<div class="with-aside"><div class="stack">${await replacements(tools, entry, id)}
<article class="card">${readableText(text, query.get('mark'))}</article></div>
<aside class="stack" aria-label="About this memory">${card(
      facts([
        ['Thread', html`<a href="${threadUrl(thread)}">${thread}</a>`],
        ...(tags.length === 0 ? [] : [['Tags', tagList(tags)] as const]),
        ['Written', time(read.text(entry, 'created_at'))],
        ...(isChanged ? [['Changed', time(read.text(entry, 'updated_at'))] as const] : []),
        ['Address', html`<code>carrel://context/${id}</code>`],
      ]),
      { title: 'Details' },
    )}
${shownMetadata !== '' && card(html`<pre>${shownMetadata}</pre>`, { title: 'Metadata' })}</aside></div>`,
  };
}

async function findEntry(tools: Visit['tools'], id: number): Promise<Record<string, unknown> | undefined> {
  if (!Number.isSafeInteger(id) || id < 1) return undefined;
  return read.list(await tools.call('get_context_by_ids', { context_ids: [id], include_images: false }), 'result')[0];
}

/** Renders links to the memory's predecessor and successor, if it has any. */
async function replacements(tools: Visit['tools'], entry: Record<string, unknown>, id: number): Promise<Html> {
  const before = replacedId(entry);
  const answer = await tools.call('search_context', {
    metadata_filters: [{ key: 'references.replaces', operator: 'eq', value: id }],
    limit: 1,
  });
  const after = read.number(read.list(answer, 'results')[0] ?? {}, 'id');
  return html`${after !== undefined && notice(html`Replaced by <a href="${entryUrl(after)}">memory ${after}</a>.`, 'warn')}
${before !== undefined && notice(html`Replaces <a href="${entryUrl(before)}">memory ${before}</a>.`, 'neutral')}`;
}

function editButton(url: string, entry: { text: string; tags: readonly string[]; metadata: string }): Html {
  return popupButton({
    id: 'edit',
    label: 'Edit',
    title: 'Edit the memory',
    isLarge: true,
    style: { icon: 'pencil' },
    body: changeForm(
      `${url}/save`,
      'Save',
      html`${textArea({ label: 'Text', name: 'text', rows: 10, value: entry.text })}${tagFields(entry.tags)}
<details><summary>Metadata</summary>${textArea({ label: 'Metadata as JSON', name: 'metadata', rows: 6, value: entry.metadata, hidesLabel: true, attributes: { required: false, spellcheck: 'false' } })}</details>${hidden('metadata_before', entry.metadata)}`,
    ),
  });
}

function replaceButton(thread: string, id: number): Html {
  return popupButton({
    id: 'replace',
    label: 'Replace',
    title: 'Replace this memory',
    isLarge: true,
    style: { icon: 'history' },
    body: changeForm(
      `${path}/new`,
      'Save',
      html`${hidden('thread', thread)}${hidden('replaces', id)}${textArea({ label: 'Text', name: 'text', rows: 8, hint: 'Write what is true now. Searches show the new memory first.' })}${field({ label: 'Tags', name: 'tags', placeholder: 'Separate with commas' })}`,
    ),
  });
}

export async function changeEntry(visit: Visit): Promise<string> {
  const { tools, subpath, form } = visit;
  if (subpath === 'new') return await addEntry(visit);
  const [, idText = '', change = ''] = subpath.split('/');
  const id = Number(idText);
  const url = entryUrl(idText);
  switch (change) {
    case 'save':
      await tools.call('update_context', {
        context_id: id,
        text: form.get('text') ?? '',
        ...changedTags(form),
        ...changedMetadata(form),
      });
      return redirectTo(url, 'saved');
    case 'restore':
      await tools.call('restore_context', { context_ids: [id] });
      return redirectTo(url, 'restored');
    case 'delete': {
      const thread = read.text((await findEntry(tools, id)) ?? {}, 'thread_id');
      await tools.call('delete_context', { context_ids: [id] });
      return redirectTo(thread === '' ? path : threadUrl(thread), 'deleted', [id]);
    }
    default:
      throw pageNotFound();
  }
}

async function addEntry({ tools, form }: Visit): Promise<string> {
  const thread = form.get('thread') ?? '';
  const tags = listOf(form.get('tags'));
  const replaces = Number(form.get('replaces') ?? 0);
  const { context_id: id } = await tools.call('store_context', {
    thread_id: thread,
    source: form.get('source') === 'agent' ? 'agent' : 'user',
    text: form.get('text') ?? '',
    ...(tags.length > 0 ? { tags } : {}),
    ...(replaces > 0 ? { replaces } : {}),
  });
  return replaces > 0 ? redirectTo(entryUrl(Number(id)), 'saved') : redirectTo(threadUrl(thread), 'saved');
}

function changedMetadata(form: URLSearchParams): { metadata?: Record<string, unknown> } {
  const [before, after] = [form.get('metadata_before'), form.get('metadata')];
  if (after === null || before === after) return {};
  try {
    const metadata: unknown = JSON.parse(after.trim() === '' ? '{}' : after);
    if (isObject(metadata)) return { metadata };
  } catch {
    // The error is thrown below.
  }
  throw new CarrelError('invalid_arguments', 'Metadata must be a JSON object, such as {"project": "x"}.');
}
