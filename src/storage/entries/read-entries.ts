import type { Statements } from '../dialect.ts';
import { numberOf, type Row, type SqlFragment, textOf } from '../rows.ts';
import { allOf } from '../statements.ts';
import type { Entry, EntryFilter, NewImage, ThreadScope } from './entry.ts';
import { entriesOf, entryColumns, imageOf } from './entry-history.ts';
import { inVisibleThreads, isLive } from './filter-condition.ts';
import { existedAt, type Selection, selectEntries } from './select-entries.ts';

interface GetRequest extends ThreadScope {
  readonly ids: readonly number[];
  readonly images: boolean;
  /** If set, returns entries as they were at this time. Omits entries whose state then is no longer stored. */
  readonly asOf?: string | undefined;
  /** Max characters of each text. */
  readonly textChars?: number | undefined;
}

/** Returns entries, newest first. Omits unknown ids. */
export async function getEntries(db: Statements, request: GetRequest): Promise<Entry[]> {
  const { ids, images, asOf, textChars } = request;
  if (ids.length === 0) return [];
  const page = newestFirst(entryColumns(db.dialect, textChars), amongIds(db, request), ids.length);
  const entries = await entriesOf(db, await db.query(page.sql, page.values), images, asOf);
  // Past texts are always read completely, so they are shortened here.
  return textChars === undefined || asOf === undefined
    ? entries
    : entries.map((entry) => truncateText(entry, textChars));
}

interface LoadRequest extends GetRequest {
  /** `requested` is the order of `ids`; `newest` is newest first. */
  readonly order: 'requested' | 'newest';
  /** Max bytes of text, metadata, summaries and images in total. If an entry alone exceeds it, its images are omitted. */
  readonly bytesMax: number;
}

interface LoadedEntries {
  readonly entries: readonly Entry[];
  /** Ids of existing entries that did not fit, in the same order. */
  readonly remainingIds: readonly number[];
}

/** Loads as many entries as fit into `bytesMax`, but at least one. */
export async function loadEntries(db: Statements, request: LoadRequest): Promise<LoadedEntries> {
  const { ids, images, order } = request;
  if (ids.length === 0) return { entries: [], remainingIds: [] };
  const page = newestFirst(sizeColumns(images), amongIds(db, request), ids.length);
  const rows = await db.query(page.sql, page.values);
  const byId = new Map(rows.map((row) => [numberOf(row, 'key'), row]));
  const ordered = order === 'newest' ? rows : ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
  return loadFitting(db, ordered, request);
}

/** Returns one image of an entry. `position` counts from 0. */
export async function entryImage(
  db: Statements,
  request: ThreadScope & { readonly id: number; readonly position: number },
): Promise<NewImage | undefined> {
  const { id, position } = request;
  const { sql, values } = allOf([isLive, ...inVisibleThreads(request, db.dialect)]);
  const [row] = await db.query(
    `SELECT i.data, i.mime_type, i.metadata FROM context_images i
      JOIN context_entries o ON o.key = i.entry
      WHERE ${sql} AND i.entry = ? ORDER BY i.position LIMIT 1 OFFSET ?`,
    [...values, id, position],
  );
  return row && imageOf(row);
}

export interface ListRequest {
  readonly filter: EntryFilter;
  readonly limit: number;
  readonly offset: number;
  readonly images: boolean;
  /** True to add the database's query plan. */
  readonly explain: boolean;
  readonly textChars?: number | undefined;
  /** See `LoadRequest`. Default: no limit. */
  readonly bytesMax?: number;
}

interface EntryPage {
  readonly entries: readonly Entry[];
  /** Ids of entries on this page that did not fit. */
  readonly remainingIds: readonly number[];
  readonly plan: string | undefined;
}

/** Lists entries, newest first. */
export async function listEntries(db: Statements, request: ListRequest): Promise<EntryPage> {
  const { filter, limit, offset, images, explain, textChars, bytesMax = Number.POSITIVE_INFINITY } = request;
  const selection = await selectEntries(db, filter, 'read');
  const columns = sizeColumns(images);
  const page = newestFirst(columns, selection.condition, limit, offset);
  const rows =
    selection.passes === undefined
      ? await db.query(page.sql, page.values)
      : await testedRows(db, selection, columns, limit, offset);
  const loaded = await loadFitting(db, rows, { images, asOf: filter.asOf, textChars, bytesMax });
  return { ...loaded, plan: explain ? await planOf(db, page, selection) : undefined };
}

interface TextsRequest {
  readonly filter: EntryFilter;
  readonly after: number;
  readonly limit: number;
}

export interface EntryText {
  readonly id: number;
  readonly text: string;
}

/** Returns the texts of entries whose id is higher than `after`, in id order. */
export async function entryTexts(db: Statements, { filter, after, limit }: TextsRequest): Promise<EntryText[]> {
  const { asOf } = filter;
  const { condition, passes = () => true } = await selectEntries(db, filter, 'read');
  const columns = asOf === undefined ? 'o.key, o.text_content, o.metadata' : entryColumns(db.dialect);
  const passing: Row[] = [];
  for (let from = after; ; ) {
    const rows = await db.query(
      `SELECT ${columns} FROM context_entries o WHERE ${condition.sql} AND o.key > ? ORDER BY o.key LIMIT ?`,
      [...condition.values, from, limit],
    );
    passing.push(...rows.filter(passes));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit || passing.length >= limit) break;
    from = numberOf(last, 'key');
  }
  const page = passing.slice(0, limit);
  if (asOf === undefined) return page.map(textOfRow);
  return (await entriesOf(db, page, false, asOf)).map(({ id, text }) => ({ id, text }));
}

/** Returns columns with sizes in bytes. The database knows them without reading the data. */
function sizeColumns(images: boolean): string {
  const imageBytes = `(SELECT coalesce(sum(octet_length(i.data)), 0) FROM context_images i WHERE i.entry = o.key)`;
  return `o.key, octet_length(o.text_content) AS text_bytes,
    coalesce(octet_length(o.metadata), 0) + coalesce(octet_length(o.summary), 0) AS other_bytes,
    ${images ? imageBytes : '0'} AS image_bytes`;
}

/** Max bytes of a character in UTF-8. */
const charBytesMax = 4;

/** Loads as many of the first entries as fit. `sized` are rows with `sizeColumns`. */
async function loadFitting(
  db: Statements,
  sized: readonly Row[],
  { images, asOf, textChars, bytesMax }: Omit<LoadRequest, 'ids' | 'order'>,
): Promise<LoadedEntries> {
  const complete: number[] = [];
  const withoutImages: number[] = [];
  let used = 0;
  for (const row of sized) {
    const textBytes = Math.min(numberOf(row, 'text_bytes'), charBytesMax * (textChars ?? Number.POSITIVE_INFINITY));
    const bytes = textBytes + numberOf(row, 'other_bytes');
    const imageBytes = numberOf(row, 'image_bytes');
    const isTooLarge = imageBytes > 0 && bytes + imageBytes > bytesMax;
    used += isTooLarge ? bytes : bytes + imageBytes;
    if (used > bytesMax && complete.length + withoutImages.length > 0) break;
    (isTooLarge ? withoutImages : complete).push(numberOf(row, 'key'));
  }
  const loaded = [
    ...(await getEntries(db, { ids: complete, images, asOf, textChars })),
    ...(await getEntries(db, { ids: withoutImages, images: false, asOf, textChars })),
  ];
  const byId = new Map(loaded.map((entry) => [entry.id, entry]));
  const ids = sized.map((row) => numberOf(row, 'key'));
  return {
    entries: ids.flatMap((id) => byId.get(id) ?? []),
    remainingIds: ids.slice(complete.length + withoutImages.length),
  };
}

function newestFirst(columns: string, condition: SqlFragment, limit: number, offset = 0, before?: Row): SqlFragment {
  const cursor = before === undefined ? [] : [textOf(before, 'created_at'), numberOf(before, 'key')];
  return {
    sql: `SELECT ${columns} FROM context_entries o WHERE ${condition.sql}
      ${before === undefined ? '' : 'AND (o.created_at, o.key) < (?, ?)'}
      ORDER BY o.created_at DESC, o.key DESC LIMIT ? OFFSET ?`,
    values: [...condition.values, ...cursor, limit, offset],
  };
}

/** Max entries whose metadata is tested at a time. */
const testedMax = 5_000;

async function testedRows(
  db: Statements,
  { condition, passes = () => true }: Selection,
  columns: string,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const passing: Row[] = [];
  let before: Row | undefined;
  for (let size = limit + offset; ; size = Math.min(4 * size, testedMax)) {
    const page = newestFirst(`${columns}, o.created_at, o.metadata`, condition, size, 0, before);
    const rows = await db.query(page.sql, page.values);
    passing.push(...rows.filter(passes));
    before = rows.at(-1);
    if (before === undefined || rows.length < size || passing.length >= limit + offset) break;
  }
  return passing.slice(offset, offset + limit);
}

function amongIds(db: Statements, request: GetRequest): SqlFragment {
  return allOf([
    { sql: `o.key IN (${db.dialect.fewIntegers})`, values: [{ list: request.ids }] },
    ...inVisibleThreads(request, db.dialect),
    request.asOf === undefined ? isLive : existedAt(request.asOf),
  ]);
}

function truncateText(entry: Entry, chars: number): Entry {
  const characters = Array.from(entry.text.slice(0, 2 * chars));
  return { ...entry, text: characters.slice(0, chars).join('') };
}

export async function planOf(db: Statements, { sql, values }: SqlFragment, { unindexed }: Selection): Promise<string> {
  const rows = await db.query(db.dialect.explain(sql), values);
  const tested = unindexed.map((name) => `metadata ${name}: not indexed, read from each of these entries`);
  return [...rows.map(db.dialect.planLine), ...tested].join('\n');
}

export function textOfRow(row: Row): EntryText {
  return { id: numberOf(row, 'key'), text: textOf(row, 'text_content') };
}
