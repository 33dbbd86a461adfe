import { CarrelError } from '../../base/errors.ts';
import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  actionsLabel,
  button,
  confirmButton,
  emptyState,
  hidden,
  icon,
  number,
  offsetOf,
  pageHeader,
  pageNotFound,
  pager,
  plainText,
  plural,
  table,
  tabs,
  time,
  toast,
  typeIcon,
} from '../parts/parts.ts';
import { outcomeOf, redirectTo } from './done.ts';

const limit = 50;
const path = '/trash';
/** How long deleted items can be restored. */
const restorableDays = 30;
const dayMs = 86_400_000;

type Item = Record<string, unknown>;

/** A kind of item that can be deleted: its tools, and how it is shown. */
interface ItemKind {
  /** The plural, which is also its name in URLs. */
  name: string;
  one: string;
  /** The tool that lists deleted items, and the field of its answer. */
  list: string;
  field: string;
  restore: { tool: string; args(id: string): Record<string, unknown> };
  purge: { tool: string; args(ids: readonly string[]): Record<string, unknown> };
  show(item: Item): Html;
  location(item: Item): Part;
}

const kinds: readonly ItemKind[] = [
  {
    name: 'documents',
    one: 'document',
    list: 'kb_trash',
    field: 'documents',
    restore: { tool: 'kb_delete', args: (id) => ({ document_id: Number(id), restore: true }) },
    purge: { tool: 'kb_purge', args: (ids) => ({ document_ids: ids.map(Number) }) },
    show: (item) => titled(typeIcon(read.text(item, 'doc_type')), read.text(item, 'title')),
    location: (item) => read.text(item, 'collection'),
  },
  {
    name: 'notes',
    one: 'note',
    list: 'notes_trash',
    field: 'notes',
    restore: { tool: 'delete_note', args: (id) => ({ id, restore: true }) },
    purge: { tool: 'notes_purge', args: (ids) => ({ ids }) },
    show: (item) => titled('notebook-pen', read.text(item, 'title')),
    location: (item) => read.texts(item, 'tags').join(', '),
  },
  {
    name: 'memories',
    one: 'memory',
    list: 'context_trash',
    field: 'entries',
    restore: { tool: 'restore_context', args: (id) => ({ context_ids: [Number(id)] }) },
    purge: { tool: 'context_purge', args: (ids) => ({ context_ids: ids.map(Number) }) },
    show: (item) => titled('brain', plainText(read.text(item, 'text')).slice(0, 200)),
    location: (item) => read.text(item, 'thread_id'),
  },
];

export const trashTools: readonly string[] = kinds.map(({ list }) => list);

function titled(sign: Parameters<typeof icon>[0], text: string): Html {
  return html`<span class="title">${icon(sign)}<span>${text}</span></span>`;
}

/** Shows deleted documents, notes and memories that can still be restored. */
export async function trashPage({ tools, query }: Visit): Promise<Page> {
  const offset = offsetOf(query);
  const offered = kinds.filter(({ list }) => tools.has(list));
  const current = offered.find(({ name }) => name === query.get('kind')) ?? offered[0];
  if (current === undefined) throw pageNotFound();
  const answers = await Promise.all(
    offered.map(async (kind) => {
      const page = kind === current ? { limit, offset } : { limit: 1 };
      return [kind, await tools.call(kind.list, page)] as const;
    }),
  );
  const totals = new Map(answers.map(([kind, answer]) => [kind, read.number(answer, 'total') ?? 0]));
  const total = totals.get(current) ?? 0;
  const items = read.list(answers.find(([kind]) => kind === current)?.[1] ?? {}, current.field);
  const canChange = tools.has(current.purge.tool) && tools.has(current.restore.tool);
  return {
    title: 'Trash',
    layout: 'wide',
    toast: toastOf(query, current),
    body: html`${pageHeader({
      title: 'Trash',
      meta: `Deleted items stay here for ${restorableDays} days.`,
      actions: canChange && items.length > 0 && emptyButton(current, items, total),
    })}
${tabs(
  'Kinds',
  offered.map((kind) => ({
    href: `${path}?kind=${kind.name}`,
    label: html`${kind.name.replace(/^./, (first) => first.toUpperCase())} <span class="meta">${number(totals.get(kind) ?? 0)}</span>`,
    isCurrent: kind === current,
  })),
)}
${items.length === 0 ? emptyState({ icon: 'trash-2', title: `No deleted ${current.name}` }) : itemTable(current, items, canChange)}
${pager(path, query, { offset, limit, total })}`,
  };
}

function itemTable(kind: ItemKind, items: readonly Item[], canChange: boolean): Html {
  return table({
    caption: `Deleted ${kind.name}`,
    columns: [
      { label: kind.name === 'memories' ? 'Text' : 'Title' },
      { label: { documents: 'Collection', notes: 'Tags', memories: 'Thread' }[kind.name] ?? '' },
      { label: 'Deleted', noWrap: true },
      { label: 'Days left', isNumber: true },
      ...(canChange ? [{ label: actionsLabel, noWrap: true }] : []),
    ],
    rows: items.map((item) => row(kind, item, canChange)),
  });
}

function row(kind: ItemKind, item: Item, canChange: boolean): Part[] {
  const id = read.text(item, 'id');
  const deletedAt = read.text(item, 'deleted_at');
  const daysLeft = Math.max(0, Math.ceil(restorableDays - (Date.now() - Date.parse(deletedAt)) / dayMs));
  const cells = [kind.show(item), kind.location(item), time(deletedAt), number(daysLeft)];
  if (!canChange) return cells;
  const idField = hidden('id', id);
  return [
    ...cells,
    html`<span class="row end no-wrap"><form method="post" action="${path}/${kind.name}/restore">${idField}${button('Restore', { isSmall: true, icon: 'undo-2' })}</form>
${confirmButton({
  id: `purge-${id}`,
  label: 'Delete permanently',
  question: `Permanently delete this ${kind.one}?`,
  detail: "It can't be restored.",
  action: `${path}/${kind.name}/purge`,
  fields: idField,
  style: { kind: 'quiet', isSmall: true },
})}</span>`,
  ];
}

/** Renders the button that permanently deletes the items on this page. */
function emptyButton(kind: ItemKind, items: readonly Item[], total: number): Html {
  const ids = items.map((item) => read.text(item, 'id'));
  const selection =
    total > items.length ? `these ${items.length} of ${plural(total, kind.one, kind.name)}` : 'all of them';
  return confirmButton({
    id: 'empty',
    label: total > items.length ? `Permanently delete these ${items.length}` : 'Empty',
    question: `Permanently delete ${selection}?`,
    detail: "They can't be restored.",
    action: `${path}/${kind.name}/purge`,
    fields: html`${ids.map((id) => hidden('id', id))}`,
    style: { icon: 'trash-2' },
  });
}

function toastOf(query: URLSearchParams, kind: ItemKind): Html | undefined {
  const outcome = outcomeOf(query);
  const count = plural(outcome?.ids.length ?? 0, kind.one, kind.name);
  if (outcome?.change === 'restored') return toast(`${count} restored`);
  if (outcome?.change === 'purged') return toast(`${count} permanently deleted`);
  return undefined;
}

export async function changeTrash({ tools, subpath, form }: Visit): Promise<string> {
  const [name, change] = subpath.split('/');
  const kind = kinds.find((each) => each.name === name);
  const ids = form.getAll('id').filter((id) => /^[\w-]{1,40}$/.test(id));
  if (kind === undefined || ids.length === 0 || !['restore', 'purge'].includes(change ?? '')) throw pageNotFound();
  const back = `${path}?kind=${kind.name}`;
  if (change === 'purge') {
    const count = read.number(await tools.call(kind.purge.tool, kind.purge.args(ids)), 'purged') ?? 0;
    // Another caller already deleted them permanently, or this caller may not see them.
    if (count === 0) throw new CarrelError('resource_not_found', 'These items no longer exist.');
    return redirectTo(back, 'purged', ids.slice(0, count));
  }
  for (const id of ids) await tools.call(kind.restore.tool, kind.restore.args(id));
  return redirectTo(back, 'restored', ids);
}
