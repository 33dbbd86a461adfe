import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  card,
  changeForm,
  emptyState,
  field,
  icon,
  linkButton,
  listOf,
  noSuchChange,
  number,
  offsetOf,
  pageHeader,
  pager,
  plural,
  select,
  table,
  tagFields,
  tagList,
  textArea,
  time,
  typeIcon,
} from '../parts/parts.ts';

const limit = 50;
const path = '/documents';

/** The documents of the knowledge base, by collection, tag and words of their title or path. */
export async function documentsPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const filters = Object.fromEntries(
    ['collection', 'tag', 'type', 'query'].flatMap((name) => {
      const value = query.get(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const answer = await tools.call('kb_list', { ...filters, limit, offset });
  const documents = read.list(answer, 'documents');
  const total = read.number(answer, 'total') ?? documents.length;
  const choices = (name: string) =>
    read
      .list(answer, name)
      .map((each) => ({ value: read.text(each, 'name'), count: read.number(each, 'documents') ?? 0 }));
  return {
    title: 'Documents',
    body: html`${pageHeader({ title: 'Documents', meta: plural(total, 'document'), actions: tools.has('kb_upload_start') && linkButton('/jobs', 'Add files', { icon: 'upload' }) })}
<form class="filters" method="get" action="${path}" data-live="#list">
${field({ label: 'Words', name: 'query', type: 'search', value: filters['query'] ?? '', placeholder: 'Title or path', icon: 'search', hidesLabel: true })}
${select({ label: 'Collection', name: 'collection', options: choices('collections'), value: filters['collection'] ?? '', all: 'All collections', hidesLabel: true })}
${select({ label: 'Tag', name: 'tag', options: choices('tags'), value: filters['tag'] ?? '', all: 'All tags', hidesLabel: true })}
${button('Filter', { icon: 'list-filter' })}</form>
<div id="list" aria-live="polite">
${
  documents.length === 0
    ? emptyState({ icon: 'file-text', title: 'No documents', actions: linkButton('/jobs', 'Add files') })
    : table({
        caption: 'Documents',
        columns: [
          { label: 'Title' },
          { label: 'Collection' },
          { label: 'Type', isWhole: true },
          { label: 'Passages', isNumber: true },
          { label: 'Added', isWhole: true },
        ],
        rows: documents.map(row),
      })
}
${pager(path, query, { offset, limit, total })}
</div>`,
  };
}

function row(document: Record<string, unknown>): Part[] {
  const id = read.text(document, 'document_id');
  const type = read.text(document, 'type');
  return [
    html`<a href="${path}/${id}">${icon(typeIcon(type))} ${read.text(document, 'title') || id}</a>
${leftOut(document)}${tagList(read.texts(document, 'tags'), (tag) => `${path}?tag=${encodeURIComponent(tag)}`)}`,
    read.text(document, 'collection'),
    type,
    number(read.number(document, 'chunks') ?? 0),
    time(read.text(document, 'created_at')),
  ];
}

/** What of it is missing, or not there yet. */
export function leftOut(from: Record<string, unknown>): Html {
  const { reason, read: got, of } = read.object(from, 'truncated');
  const pending = read.number(from, 'pending') ?? 0;
  return html`${reason !== undefined && badge(`Partly read (${String(reason)}): ${String(got)} of ${String(of)}`, 'warn')}
${pending > 0 && badge(`Indexing: ${plural(pending, 'passage')} left`, 'neutral', 'circle-dashed')}`;
}

/** One document: its text in parts, and what can be changed. */
export async function documentPage({ tools, rest, query }: Visit): Promise<Page> {
  const id = Number(rest);
  if (query.get('deleted') === '1' && tools.has('kb_delete')) {
    return {
      title: 'Deleted',
      body: html`${pageHeader({ title: 'Document deleted', meta: 'It can be restored for 30 days. Restoring reads its file again.' })}${changeForm(`${path}/${id}/restore`, 'Restore')}`,
    };
  }
  if (query.get('delete') === '1' && tools.has('kb_delete')) {
    const { title } = await tools.call('kb_get', { document_id: id, max_chunks: 0 });
    return {
      title: 'Delete?',
      body: html`${pageHeader({ title: html`Delete ${String(title) || id} for good?`, meta: html`The engine keeps no deleted documents: this one can't be restored.` })}
<div class="row">${changeForm(`${path}/${id}/delete`, 'Delete for good', html`<input type="hidden" name="sure" value="1">`, { kind: 'danger' })}${linkButton(`${path}/${id}`, 'Keep it')}</div>`,
    };
  }
  const first = offsetOf(query);
  const document = await tools.call('kb_get', { document_id: id, ...(first > 0 ? { first_chunk: first } : {}) });
  const chunks = read.list(document, 'chunks');
  const next = /first_chunk=(\d+)/.exec(read.text(document, 'next'))?.[1];
  const isNote = read.text(document, 'doc_type') === 'note';
  const tags = read.texts(document, 'tags');
  const title = read.text(document, 'title') || String(id);
  return {
    title,
    body: html`${pageHeader({
      title,
      trail: [{ href: path, label: 'Documents' }],
      meta: html`${read.text(document, 'collection')} · ${read.text(document, 'doc_type')} · ${read.text(document, 'source_path')} · ${time(read.text(document, 'created_at'))}`,
    })}
<div class="stack">${leftOut(document)}${tagList(tags)}
${first > 0 && html`<p><a rel="prev" href="${path}/${id}">From the beginning</a></p>`}
<article class="card">${chunks.map((chunk) => html`<section id="chunk-${read.text(chunk, 'chunk_index')}">${place(chunk)}<p class="text">${read.text(chunk, 'text')}</p></section>`)}</article>
${next !== undefined && html`<p><a rel="next" href="${path}/${id}?offset=${next}">Read on</a></p>`}
${
  hasChanges(tools) &&
  card(
    html`${tools.has('kb_bulk_tags') && changeForm(`${path}/${id}/tags`, 'Save tags', tagFields(tags), { kind: 'secondary' })}
${tools.has('kb_set_collection') && changeForm(`${path}/${id}/collection`, 'Move', field({ label: 'Collection', name: 'collection', isRequired: true, value: read.text(document, 'collection') }), { kind: 'secondary' })}
${isNote && next === undefined && first === 0 && tools.has('kb_update_note') && changeForm(`${path}/${id}/text`, 'Save text', textArea({ label: 'Text', name: 'text', rows: 8, value: chunks.map((chunk) => read.text(chunk, 'text')).join('\n\n') }), { kind: 'secondary' })}
${tools.has('kb_delete') && changeForm(`${path}/${id}/delete`, 'Delete', html``, { kind: 'danger', icon: 'trash-2' })}`,
    { title: 'Change' },
  )
}</div>`,
  };
}

function hasChanges({ has }: Visit['tools']): boolean {
  return ['kb_bulk_tags', 'kb_set_collection', 'kb_update_note', 'kb_delete'].some(has);
}

function place(chunk: Record<string, unknown>): Html {
  const { page, section_header: section } = read.object(chunk, 'chunk_metadata');
  const words = [page === undefined ? '' : `page ${String(page)}`, typeof section === 'string' ? section : ''];
  const shown = words.filter((word) => word !== '').join(' · ');
  return shown === '' ? html`` : html`<p class="meta">${shown}</p>`;
}

async function keepsDeleted(tools: Visit['tools']): Promise<boolean> {
  if (!tools.has('kb_status')) return false;
  const status = await tools.call('kb_status', {});
  return read.object(status, 'storage')['keeps_deleted'] === true;
}

export async function changeDocument({ tools, rest, form }: Visit): Promise<string> {
  const [given = '', change] = rest.split('/');
  const id = Number(given);
  if (change === 'delete') {
    const isKept = await keepsDeleted(tools);
    if (!isKept && form.get('sure') !== '1') return `${path}/${id}?delete=1`;
    await tools.call('kb_delete', { document_id: id });
    return isKept ? `${path}/${id}?deleted=1` : path;
  }
  if (change === 'restore') {
    await tools.call('kb_delete', { document_id: id, restore: true });
    // Where its job is shown, with a link to the document when it is there again.
    return '/jobs';
  }
  if (change === 'collection') {
    await tools.call('kb_set_collection', { document_id: id, collection: form.get('collection') ?? '' });
  } else if (change === 'text') {
    await tools.call('kb_update_note', { document_id: id, text: form.get('text') ?? '' });
  } else if (change === 'tags') {
    const [before, after] = [listOf(form.get('before')), listOf(form.get('tags'))];
    const add = after.filter((tag) => !before.includes(tag));
    const remove = before.filter((tag) => !after.includes(tag));
    if (add.length + remove.length > 0) {
      await tools.call('kb_bulk_tags', {
        document_ids: [id],
        ...(add.length > 0 ? { add } : {}),
        ...(remove.length > 0 ? { remove } : {}),
      });
    }
  } else throw noSuchChange();
  return `${path}/${id}`;
}
