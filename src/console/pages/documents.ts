import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { changeForm, listOf, noSuchChange, offsetOf, pager, tagFields, tagList, textArea, time } from './parts.ts';

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
  const names = (field: string) => read.list(answer, field).map((each) => read.text(each, 'name'));
  return {
    title: 'Documents',
    body: html`<h1>Documents</h1>
<form class="filters" method="get" action="${path}" data-live="#list">
<label>Words <input type="search" name="query" value="${filters['query'] ?? ''}"></label>
<label>Collection ${choice('collection', names('collections'), filters['collection'])}</label>
<label>Tag ${choice('tag', names('tags'), filters['tag'])}</label>
<button>Show</button></form>
<div id="list" aria-live="polite">
${documents.length === 0 && html`<p class="summary">No documents. <a href="/jobs">Add files</a>.</p>`}
<table><caption class="visually-hidden">Documents</caption>
<thead><tr><th scope="col">Title</th><th scope="col">Collection</th><th scope="col">Type</th><th scope="col">Chunks</th><th scope="col">Added</th></tr></thead>
<tbody>${documents.map(row)}</tbody></table>
${pager(path, query, { offset, limit, total })}
</div>`,
  };
}

function choice(name: string, options: readonly string[], chosen: string | undefined): Html {
  const known = chosen === undefined || options.includes(chosen) ? options : [chosen, ...options];
  return html`<select name="${name}"><option value="">all</option>${known.map(
    (option) => html`<option${option === chosen ? html` selected` : ''}>${option}</option>`,
  )}</select>`;
}

function row(document: Record<string, unknown>): Html {
  const id = read.text(document, 'document_id');
  return html`<tr tabindex="0"><td><a href="${path}/${id}">${read.text(document, 'title') || id}</a>
${leftOut(document)}${tagList(read.texts(document, 'tags'), (tag) => `${path}?tag=${encodeURIComponent(tag)}`)}</td>
<td>${read.text(document, 'collection')}</td><td>${read.text(document, 'type')}</td><td>${read.text(document, 'chunks')}</td><td>${time(read.text(document, 'created_at'))}</td></tr>`;
}

/** What of it is missing, or not there yet. */
export function leftOut(from: Record<string, unknown>): Html {
  const { reason, read: got, of } = read.object(from, 'truncated');
  const pending = read.number(from, 'pending') ?? 0;
  return html`${reason !== undefined && html`<p class="warn">Not all of it was read (${String(reason)}: ${String(got)} of ${String(of)}).</p>`}
${pending > 0 && html`<p class="warn">${pending} passages are found by their words only, until their vectors are made.</p>`}`;
}

/** One document: its text in parts, and what can be changed. */
export async function documentPage({ tools, rest, query }: Visit): Promise<Page> {
  const id = Number(rest);
  if (query.get('deleted') === '1' && tools.has('kb_delete')) {
    return {
      title: 'Deleted',
      body: html`<h1>The document is deleted</h1>
<p>It can be restored for 30 days, unless much more is deleted after it. Its file is then read once more.</p>${changeForm(`${path}/${id}/restore`, 'Restore')}`,
    };
  }
  if (query.get('delete') === '1' && tools.has('kb_delete')) {
    const { title } = await tools.call('kb_get', { document_id: id, max_chunks: 0 });
    return {
      title: 'Delete?',
      body: html`<h1>Delete ${String(title) || id} for good?</h1>
<p>The engine keeps no deleted documents: this one can't be restored.</p>
${changeForm(`${path}/${id}/delete`, 'Delete for good', html`<input type="hidden" name="sure" value="1">`)}
<p><a href="${path}/${id}">Keep it</a></p>`,
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
    body: html`<h1>${title}</h1>
<p class="place">${read.text(document, 'collection')} · ${read.text(document, 'doc_type')} · ${read.text(document, 'source_path')} · ${time(read.text(document, 'created_at'))}</p>
${leftOut(document)}${tagList(tags)}
${first > 0 && html`<p><a rel="prev" href="${path}/${id}">From the beginning</a></p>`}
<article>${chunks.map((chunk) => html`<section id="chunk-${read.text(chunk, 'chunk_index')}">${place(chunk)}<p class="text">${read.text(chunk, 'text')}</p></section>`)}</article>
${next !== undefined && html`<p><a rel="next" href="${path}/${id}?offset=${next}">Read on</a></p>`}
<section class="changes" aria-label="Change">
${tools.has('kb_bulk_tags') && changeForm(`${path}/${id}/tags`, 'Save tags', tagFields(tags))}
${tools.has('kb_set_collection') && changeForm(`${path}/${id}/collection`, 'Move', html`<label>Collection <input name="collection" required value="${read.text(document, 'collection')}"></label>`)}
${isNote && next === undefined && first === 0 && tools.has('kb_update_note') && changeForm(`${path}/${id}/text`, 'Save text', html`<label>Text ${textArea('text', 8, chunks.map((chunk) => read.text(chunk, 'text')).join('\n\n'))}</label>`)}
${tools.has('kb_delete') && changeForm(`${path}/${id}/delete`, 'Delete')}
</section>`,
  };
}

function place(chunk: Record<string, unknown>): Html {
  const { page, section_header: section } = read.object(chunk, 'chunk_metadata');
  const words = [page === undefined ? '' : `page ${String(page)}`, typeof section === 'string' ? section : ''];
  const shown = words.filter((word) => word !== '').join(' · ');
  return shown === '' ? html`` : html`<p class="place">${shown}</p>`;
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
