import type { FileToSend } from '../../http/send-file.ts';
import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  button,
  card,
  changeForm,
  documentText,
  facts,
  field,
  hidden,
  icon,
  linkButton,
  linkTo,
  listOf,
  number,
  offsetOf,
  pageHeader,
  pageNotFound,
  pdfPage,
  plural,
  popupButton,
  tagFields,
  tagList,
  textArea,
  time,
  toast,
  typeIcon,
} from '../parts/parts.ts';
import { outcomeOf, redirectTo } from './done.ts';
import { indexing, partlyRead } from './reading-state.ts';

export const documentPath = '/documents';
const path = documentPath;

/** Max tokens of text per page. */
const budgetTokens = 20_000;

/** Shows one document: text, outline, original, versions, and forms to change it. */
export async function documentPage({ tools, subpath, query }: Visit): Promise<Page> {
  const id = Number(subpath);
  if (query.get('delete') === '1' && tools.has('kb_delete')) return await deleteConfirmation(tools, id);
  const first = offsetOf(query);
  const document = await tools.call('kb_get', {
    document_id: id,
    budget_tokens: budgetTokens,
    ...(first > 0 ? { first_chunk: first } : {}),
  });
  const chunks = read.list(document, 'chunks');
  const next = /first_chunk=(\d+)/.exec(read.text(document, 'next'))?.[1];
  const title = read.text(document, 'title') || `Document ${id}`;
  const collection = read.text(document, 'collection');
  const type = read.text(document, 'doc_type');
  const picture = pdfPage(document, chunks[0]);
  const [outline, versions] = await Promise.all([outlineOf(tools, document, first), versionsOf(tools, document)]);
  return {
    title,
    layout: 'wide',
    toast: toastOf(query),
    body: html`${pageHeader({
      title,
      trail: [
        { href: path, label: 'Documents' },
        ...(collection === ''
          ? []
          : [{ href: `${path}?collection=${encodeURIComponent(collection)}`, label: collection }]),
      ],
      meta: html`<span class="row">${icon(typeIcon(type))}<span>${type} · ${plural(read.number(document, 'chunk_count') ?? 0, 'passage')} · added ${time(read.text(document, 'created_at'))}</span>${indexing(document)}${partlyRead(document)}</span>`,
      actions: actions(document, tools, { isWhole: first === 0 && next === undefined, chunks }),
    })}
<div class="with-aside">
<div class="stack">
${first > 0 && html`<p><a rel="prev" href="${path}/${id}">From the beginning</a></p>`}
${picture && html`<details class="card area"><summary>Pages as pictures</summary>${picture}</details>`}
<article class="card">${chunks.map((chunk, index) => passage(chunk, type, pageNumber(chunks[index - 1])))}</article>
${next !== undefined && html`<div>${linkButton(`${path}/${id}?offset=${next}`, 'Continue reading', { icon: 'arrow-right', attributes: { rel: 'next' } })}</div>`}
</div>
<aside class="stack" aria-label="About this document">
${outline.length > 1 && card(outlineList(outline, id), { title: 'Outline' })}
${card(facts(detailsOf(document)), { title: 'Details' })}
${versions.length > 1 && card(versionList(versions, id), { title: 'Versions' })}
</aside></div>`,
  };
}

/** Returns the details that are known. */
function detailsOf(document: Record<string, unknown>): [string, Part][] {
  const collection = read.text(document, 'collection');
  const source = read.text(document, 'source_path');
  const language = read.text(document, 'language');
  const changed = read.text(document, 'updated_at');
  const tags = read.texts(document, 'tags');
  const details: [string, Part][] = [
    [
      'Collection',
      collection !== '' && html`<a href="${path}?collection=${encodeURIComponent(collection)}">${collection}</a>`,
    ],
    ['Tags', tags.length > 0 && tagList(tags, (tag) => `${path}?tag=${encodeURIComponent(tag)}`)],
    ['Source', source !== '' && linkTo(source, source)],
    ['Language', language],
    ['Added', time(read.text(document, 'created_at'))],
    ['Changed', changed !== '' && time(changed)],
    ['Address', html`<code>carrel://kb/doc/${read.text(document, 'document_id')}</code>`],
  ];
  return details.filter(([, value]) => value !== false && value !== '');
}

function toastOf(query: URLSearchParams): Html | undefined {
  const outcome = outcomeOf(query);
  return outcome?.change === 'saved' ? toast('Saved') : undefined;
}

function pageNumber(chunk: Record<string, unknown> = {}): number | undefined {
  return read.number(read.object(chunk, 'chunk_metadata'), 'page');
}

/** Renders a passage, with its page number if the passage before is on another page. */
function passage(chunk: Record<string, unknown>, type: string, pageBefore: number | undefined): Html {
  const { line_start: firstLine } = read.object(chunk, 'chunk_metadata');
  const page = pageNumber(chunk);
  const text = documentText(type, read.text(chunk, 'text'), typeof firstLine === 'number' ? { firstLine } : {});
  return html`<section id="chunk-${read.text(chunk, 'chunk_index')}" data-page="${page}">${page !== undefined && page !== pageBefore && html`<p class="page-number">Page ${number(page)}</p>`}${text}</section>`;
}

function actions(
  document: Record<string, unknown>,
  tools: Visit['tools'],
  { isWhole, chunks }: { isWhole: boolean; chunks: readonly Record<string, unknown>[] },
): Html {
  const id = read.text(document, 'document_id');
  const url = `${path}/${id}`;
  const text = chunks.map((chunk) => read.text(chunk, 'text')).join('\n\n');
  const canEdit = read.text(document, 'doc_type') === 'note' && isWhole && tools.has('kb_update_note');
  return html`${document['has_file'] === true && linkButton(`${url}/original`, 'Original', { icon: 'download', attributes: { download: true } })}
${canEdit && popupButton({ id: 'edit', label: 'Edit', title: 'Edit the note', isLarge: true, style: { icon: 'pencil' }, body: changeForm(`${url}/text`, 'Save', textArea({ label: 'Text', name: 'text', rows: 16, value: text })) })}
${
  tools.has('kb_bulk_tags') &&
  popupButton({
    id: 'file',
    label: 'Tags and collection',
    title: 'Tags and collection',
    style: { icon: 'tag' },
    body: changeForm(
      `${url}/labels`,
      'Save',
      html`${tagFields(read.texts(document, 'tags'))}${field({ label: 'Collection', name: 'collection', value: read.text(document, 'collection') })}`,
    ),
  })
}
${tools.has('kb_delete') && html`<form method="post" action="${url}/delete">${button('Delete', { kind: 'danger', icon: 'trash-2' })}</form>`}`;
}

interface OutlineEntry {
  chunk: number;
  page: number | undefined;
  heading: string;
}

/** Returns the outline. For short documents the tool returns none, so it is built from the passages. */
async function outlineOf(
  tools: Visit['tools'],
  document: Record<string, unknown>,
  first: number,
): Promise<OutlineEntry[]> {
  const answer =
    first === 0 ? document : await tools.call('kb_get', { document_id: document['document_id'], max_chunks: 0 });
  const outline = read.list(answer, 'outline');
  if (outline.length > 0) {
    return outline.map((entry) => ({
      chunk: read.number(entry, 'chunk_index') ?? 0,
      page: read.number(entry, 'page'),
      heading: read.text(entry, 'heading'),
    }));
  }
  const entries: OutlineEntry[] = [];
  for (const chunk of read.list(answer, 'chunks')) {
    const metadata = read.object(chunk, 'chunk_metadata');
    const [page, heading] = [read.number(metadata, 'page'), read.text(metadata, 'section_header')];
    const last = entries.at(-1);
    if ((heading === '' && page === undefined) || (last?.heading === heading && last.page === page)) continue;
    entries.push({ chunk: read.number(chunk, 'chunk_index') ?? 0, page, heading });
  }
  return entries;
}

function outlineList(entries: readonly OutlineEntry[], id: number): Html {
  return html`<ol class="outline">${entries.map(({ chunk, page, heading }) => {
    const [name = '', ...above] = heading.split(' > ').toReversed();
    const label = name === '' ? `Page ${page ?? ''}` : name;
    return html`<li class="level-${Math.min(3, above.length)}"><a href="${path}/${id}?offset=${chunk}#chunk-${chunk}">${label}</a>${name !== '' && page !== undefined && html` <span class="meta">${page}</span>`}</li>`;
  })}</ol>`;
}

/** Returns the documents from the same source, newest first. */
async function versionsOf(
  tools: Visit['tools'],
  document: Record<string, unknown>,
): Promise<Record<string, unknown>[]> {
  const source = read.text(document, 'source_path');
  return source === '' ? [] : read.list(await tools.call('kb_get', { source_path: source }), 'documents');
}

function versionList(versions: readonly Record<string, unknown>[], id: number): Html {
  return html`<ul class="versions">${versions.map((version) => {
    const other = read.number(version, 'document_id');
    const label = html`${time(read.text(version, 'updated_at') || read.text(version, 'created_at'))} <span class="meta">${read.text(version, 'collection')}</span>`;
    return html`<li>${other === id ? html`<b>${label}</b>` : html`<a href="${path}/${other}">${label}</a>`}</li>`;
  })}</ul>`;
}

async function deleteConfirmation(tools: Visit['tools'], id: number): Promise<Page> {
  const { title } = await tools.call('kb_get', { document_id: id, max_chunks: 0 });
  return {
    title: 'Delete?',
    body: html`${pageHeader({ title: html`Permanently delete ${String(title) || id}?`, meta: "This server has no trash, so the document can't be restored." })}
<div class="row">${changeForm(`${path}/${id}/delete`, 'Delete permanently', hidden('sure', '1'), { kind: 'danger' })}${linkButton(`${path}/${id}`, 'Keep it')}</div>`,
  };
}

export async function hasTrash(tools: Visit['tools']): Promise<boolean> {
  if (!tools.has('kb_status')) return false;
  const status = await tools.call('kb_status', {});
  return read.object(status, 'storage')['keeps_deleted'] === true;
}

export async function changeDocument({ tools, subpath, form }: Visit): Promise<string> {
  const [idText = '', change] = subpath.split('/');
  const id = Number(idText);
  switch (change) {
    case 'delete': {
      const isRestorable = await hasTrash(tools);
      if (!isRestorable && form.get('sure') !== '1') return `${path}/${id}?delete=1`;
      await tools.call('kb_delete', { document_id: id });
      return redirectTo(path, isRestorable ? 'deleted' : 'purged', [id]);
    }
    case 'text':
      await tools.call('kb_update_note', { document_id: id, text: form.get('text') ?? '' });
      break;
    case 'labels':
      await updateLabels(tools, id, form);
      break;
    default:
      throw pageNotFound();
  }
  return redirectTo(`${path}/${id}`, 'saved');
}

/** Sends only changed fields, because a tag that contains a comma would be split. */
async function updateLabels(tools: Visit['tools'], id: number, form: URLSearchParams): Promise<void> {
  const [before, after] = [listOf(form.get('before')), listOf(form.get('tags'))];
  const isSame = form.get('before') === form.get('tags');
  const add = isSame ? [] : after.filter((tag) => !before.includes(tag));
  const remove = isSame ? [] : before.filter((tag) => !after.includes(tag));
  if (add.length + remove.length > 0) {
    await tools.call('kb_bulk_tags', {
      document_ids: [id],
      force: true,
      ...(add.length > 0 ? { add } : {}),
      ...(remove.length > 0 ? { remove } : {}),
    });
  }
  const collection = (form.get('collection') ?? '').trim();
  const currentCollection = read.text(await tools.call('kb_get', { document_id: id, max_chunks: 0 }), 'collection');
  if (collection !== currentCollection) {
    await tools.call('kb_set_collection', { document_id: id, ...(collection === '' ? {} : { collection }) });
  }
}

/** Returns the original file, for a download. */
export function originalOf({ tools, subpath }: Visit): Promise<FileToSend> | undefined {
  const [, id] = /^(\d{1,15})\/original$/.exec(subpath) ?? [];
  return id === undefined ? undefined : tools.original(Number(id));
}
