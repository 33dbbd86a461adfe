import { isCarrelError } from '../../base/errors.ts';
import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  button,
  type Column,
  emptyState,
  field,
  hidden,
  icon,
  linkButton,
  listOf,
  number,
  offsetOf,
  pageHeader,
  pageNotFound,
  pager,
  plural,
  popupButton,
  select,
  selectAll,
  selectRow,
  table,
  tagList,
  time,
  toast,
  typeIcon,
} from '../parts/parts.ts';
import { changeDocument, documentPage, hasTrash, documentPath as path } from './document.ts';
import { outcomeOf, redirectTo } from './done.ts';
import { indexing, partlyRead } from './reading-state.ts';

const limit = 50;

const filterNames = ['query', 'collection', 'type', 'tag'] as const;
const sorts = { title: 'Title', type: 'Type', chunks: 'Passages', added: 'Added' } as const;
type Sort = keyof typeof sorts;

/** Shows the documents of the knowledge base as a table, with filters, sorting and bulk changes. */
export async function documentsPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const filters = Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = query.get(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  // With a remote engine, there is only kb_list.
  const canSort = tools.has('kb_table');
  const sorted = canSort ? sortOf(query) : undefined;
  const answer = await listDocuments(tools, {
    ...filters,
    limit,
    offset,
    ...(sorted ? { sort: sorted.by, descending: sorted.descending } : {}),
  });
  const documents = read.list(answer, 'documents');
  const total = read.number(answer, 'total') ?? documents.length;
  const choices = (name: string) =>
    read
      .list(answer, name)
      .map((each) => ({ value: read.text(each, 'name'), count: read.number(each, 'documents') ?? 0 }));
  const isFiltered = Object.keys(filters).length > 0;
  return {
    title: 'Documents',
    layout: 'wide',
    toast: toastOf(query, tools),
    body: html`${pageHeader({
      title: 'Documents',
      meta: plural(total, 'document'),
      actions: html`${tools.has('kb_trash') && linkButton('/trash', 'Trash', { icon: 'trash-2', kind: 'quiet' })}${tools.has('kb_upload_start') && linkButton('/jobs', 'Add files', { icon: 'upload', kind: 'primary' })}`,
    })}
<form class="filters" method="get" action="${path}" data-live="#list">
${field({ label: 'Title or path', name: 'query', type: 'search', value: filters['query'] ?? '', placeholder: 'Filter by title or path', icon: 'search', hidesLabel: true })}
${select({ label: 'Collection', name: 'collection', options: choices('collections'), value: filters['collection'] ?? '', all: 'All collections', hidesLabel: true })}
${canSort && select({ label: 'Type', name: 'type', options: choices('types'), value: filters['type'] ?? '', all: 'All types', hidesLabel: true })}
${select({ label: 'Tag', name: 'tag', options: choices('tags'), value: filters['tag'] ?? '', all: 'All tags', hidesLabel: true })}
${sorted && hidden('sort', sorted.parameter)}
<noscript>${button('Filter', { icon: 'list-filter' })}</noscript></form>
<div id="list" aria-live="polite">
${documents.length === 0 ? noDocuments(isFiltered) : documentTable(documents, query, { tools, sorted })}
${pager(path, query, { offset, limit, total })}
</div>`,
  };
}

/** Lists documents. A collection that doesn't exist counts as empty, because its last document may just have been deleted. */
async function listDocuments(
  tools: Visit['tools'],
  { collection, ...request }: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const tool = tools.has('kb_table') ? 'kb_table' : 'kb_list';
  try {
    return await tools.call(tool, { ...request, ...(collection === undefined ? {} : { collection }) });
  } catch (error) {
    if (!isCarrelError(error) || error.code !== 'collection_not_found') throw error;
    return { ...(await tools.call(tool, { limit: 1 })), documents: [], total: 0 };
  }
}

interface Sorted {
  by: Sort;
  descending: boolean;
  /** The order in the URL, where `-title` means descending. */
  parameter: string;
}

function sortOf(query: URLSearchParams): Sorted | undefined {
  const parameter = query.get('sort') ?? '';
  const name = parameter.replace(/^-/, '');
  return Object.hasOwn(sorts, name)
    ? { by: name as Sort, descending: parameter.startsWith('-'), parameter }
    : undefined;
}

function documentTable(
  documents: readonly Record<string, unknown>[],
  query: URLSearchParams,
  { tools, sorted }: { tools: Visit['tools']; sorted: Sorted | undefined },
): Html {
  const canSort = tools.has('kb_table');
  const canChange = tools.has('kb_bulk_tags') || tools.has('kb_bulk_delete');
  const column = (by: Sort, options: Partial<Column> = {}): Column => ({
    label: sorts[by],
    ...options,
    ...(canSort ? { sort: sortLink(by, query, sorted) } : {}),
  });
  const documentList = table({
    caption: 'Documents',
    columns: [
      ...(canChange ? [{ label: selectAll('Select all documents') }] : []),
      column('title', { isWide: true }),
      { label: 'Collection' },
      column('type', { noWrap: true, isExtra: true }),
      column('chunks', { isNumber: true, isExtra: true }),
      column('added', { noWrap: true }),
    ],
    rows: documents.map((document) => row(document, query, canChange)),
  });
  if (!canChange) return documentList;
  return html`<form class="selecting" method="post" action="${path}/selected">${hidden('back', backOf(query))}${documentList}${selectionBar(tools)}</form>`;
}

function sortLink(by: Sort, query: URLSearchParams, sorted: Sorted | undefined): NonNullable<Column['sort']> {
  const next = new URLSearchParams(query);
  next.delete('offset');
  next.delete('done');
  const isCurrent = sorted?.by === by;
  // A first click sorts names ascending, but numbers and dates descending.
  const startsDescending = by === 'chunks' || by === 'added';
  const descending = isCurrent ? !sorted.descending : startsDescending;
  next.set('sort', `${descending ? '-' : ''}${by}`);
  return {
    href: `${path}?${next}`,
    ...(isCurrent ? { order: sorted.descending ? 'descending' : 'ascending' } : {}),
  };
}

function row(document: Record<string, unknown>, query: URLSearchParams, canChange: boolean): Part[] {
  const id = read.text(document, 'document_id');
  const type = read.text(document, 'type');
  const title = read.text(document, 'title') || `Document ${id}`;
  const source = read.text(document, 'source_path');
  const collection = read.text(document, 'collection');
  const isPathShown = source !== '' && source !== title;
  return [
    ...(canChange ? [selectRow('id', id, `Select ${title}`)] : []),
    html`<div class="titled"><a class="title" href="${path}/${id}">${icon(typeIcon(type))}<span>${title}</span></a>
${indexing(document)}${partlyRead(document)}${tagList(read.texts(document, 'tags'), (tag) => filtered(query, 'tag', tag))}</div>
${isPathShown && html`<p class="meta path" title="${source}">${source}</p>`}`,
    collection !== '' && html`<a class="plain" href="${filtered(query, 'collection', collection)}">${collection}</a>`,
    type,
    number(read.number(document, 'chunks') ?? 0),
    time(read.text(document, 'created_at')),
  ];
}

/** Returns a link to the same list with one more filter. */
function filtered(query: URLSearchParams, name: string, value: string): string {
  const next = new URLSearchParams(query);
  next.delete('offset');
  next.delete('done');
  next.set(name, value);
  return `${path}?${next}`;
}

function backOf(query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  next.delete('done');
  return String(next);
}

/** Renders the actions for the selected rows. CSS shows them when a row is selected. */
function selectionBar(tools: Visit['tools']): Html {
  return html`<div class="selection" role="group" aria-label="Selected documents"><span class="selected-count"></span>
${
  tools.has('kb_bulk_tags') &&
  html`${popupButton({
    id: 'selected-tags',
    label: 'Tags',
    title: 'Change tags',
    style: { icon: 'tag', isSmall: true },
    body: html`${field({ label: 'Add', name: 'add', placeholder: 'Separate with commas' })}${field({ label: 'Remove', name: 'remove', placeholder: 'Separate with commas' })}<div class="row end">${button('Change tags', { kind: 'primary', attributes: { name: 'change', value: 'tags' } })}</div>`,
  })}
${popupButton({
  id: 'selected-move',
  label: 'Move',
  title: 'Move to a collection',
  style: { icon: 'folder', isSmall: true },
  body: html`${field({ label: 'Collection', name: 'collection', placeholder: 'Existing or new collection' })}<div class="row end">${button('Move', { kind: 'primary', attributes: { name: 'change', value: 'move' } })}</div>`,
})}`
}
${tools.has('kb_bulk_delete') && button('Delete', { kind: 'danger', icon: 'trash-2', isSmall: true, attributes: { name: 'change', value: 'delete' } })}</div>`;
}

function noDocuments(isFiltered: boolean): Html {
  if (isFiltered) {
    return emptyState({
      icon: 'list-filter',
      title: 'No matching documents',
      text: 'These filters match titles, paths and labels only. Use Search to find text inside documents.',
      actions: linkButton(path, 'Clear filters'),
    });
  }
  return emptyState({
    icon: 'file-text',
    title: 'No documents yet',
    text: 'Add PDFs, Office files, Markdown, code or web pages. Agents can then search and cite them.',
    actions: linkButton('/jobs', 'Add files', { icon: 'upload', kind: 'primary' }),
  });
}

function toastOf(query: URLSearchParams, tools: Visit['tools']): Html | undefined {
  const outcome = outcomeOf(query);
  if (outcome === undefined) return undefined;
  const { change, ids } = outcome;
  const count = plural(ids.length, 'document');
  switch (change) {
    case 'deleted':
      return toast(
        `${count} deleted`,
        tools.has('kb_delete')
          ? {
              action: `${path}/selected`,
              fields: html`${ids.map((id) => hidden('id', id))}${hidden('change', 'restore')}`,
            }
          : undefined,
      );
    case 'purged':
      return toast('Permanently deleted');
    case 'restored':
      return toast(`Restoring ${count}`);
    case 'tagged':
      return toast(`Changed the tags of ${count}`);
    case 'moved':
      return toast(`${count} moved`);
    case 'unchanged':
      return toast('Nothing was selected or changed');
    default:
      return undefined;
  }
}

/** Shows one document, or asks for confirmation before the selected ones are permanently deleted. */
export async function documentOrConfirmation(visit: Visit): Promise<Page> {
  if (visit.subpath !== 'selected') return await documentPage(visit);
  const ids = (visit.query.get('delete') ?? '').split(',').map(Number).filter(Number.isSafeInteger).slice(0, limit);
  const question = `Permanently delete ${plural(ids.length, 'document')}?`;
  return {
    title: question,
    body: html`${pageHeader({ title: question, meta: "This server has no trash, so they can't be restored." })}
<form class="row" method="post" action="${path}/selected">${ids.map((id) => hidden('id', id))}${hidden('change', 'delete')}${hidden('sure', '1')}${button('Delete permanently', { kind: 'danger' })}${linkButton(path, 'Keep them')}</form>`,
  };
}

/** Handles a form about one document, or about those selected in the table. */
export async function changeDocuments(visit: Visit): Promise<string> {
  const { tools, subpath, form } = visit;
  if (subpath !== 'selected') return await changeDocument(visit);
  const ids = form.getAll('id').map(Number).filter(Number.isSafeInteger);
  const back = backTo(form.get('back'));
  if (ids.length === 0) return redirectTo(back, 'unchanged');
  // The user selected each document, so the limit on bulk changes doesn't apply.
  const selection = { document_ids: ids, force: true };
  switch (form.get('change')) {
    case 'tags': {
      const [add, remove] = [listOf(form.get('add')), listOf(form.get('remove'))];
      if (add.length + remove.length === 0) return redirectTo(back, 'unchanged');
      await tools.call('kb_bulk_tags', {
        ...selection,
        ...(add.length > 0 ? { add } : {}),
        ...(remove.length > 0 ? { remove } : {}),
      });
      return redirectTo(back, 'tagged', ids);
    }
    case 'move': {
      const collection = (form.get('collection') ?? '').trim();
      if (collection === '') return redirectTo(back, 'unchanged');
      await tools.call('kb_bulk_tags', { ...selection, set_collection: collection });
      return redirectTo(back, 'moved', ids);
    }
    case 'delete': {
      const isRestorable = await hasTrash(tools);
      if (!isRestorable && form.get('sure') !== '1') return `${path}/selected?delete=${ids.join(',')}`;
      await tools.call('kb_bulk_delete', selection);
      return redirectTo(back, isRestorable ? 'deleted' : 'purged', ids);
    }
    case 'restore':
      for (const id of ids) await tools.call('kb_delete', { document_id: id, restore: true });
      return redirectTo(path, 'restored', ids);
    default:
      throw pageNotFound();
  }
}

/** Returns the link back to the filtered list. */
function backTo(query: string | null): string {
  const filters = new URLSearchParams(query ?? '');
  return filters.size === 0 ? path : `${path}?${filters}`;
}
