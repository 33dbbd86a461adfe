import type { WeighedWords, WeighRequest } from '../../../words/ranking/word-index.ts';
import type {
  Entry,
  EntryPage,
  EntryText,
  GetRequest,
  ImageRequest,
  ListRequest,
  LoadedEntries,
  LoadRequest,
  NewImage,
  PastGaps,
  ScoredPage,
  TextsRequest,
  WordSearchRequest,
} from '../../contracts/entries.ts';
import type { EntryFilter } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { type Condition, type ListValue, numberOf, type Row, type SqlValue, textOf } from '../../rows.ts';
import { findWords, weighWords } from '../words/find-words.ts';
import { entryWords } from '../words/word-indexes.ts';
import { entriesThen } from './entry-history.ts';
import { entriesOf, entryColumns, imageOf } from './entry-rows.ts';
import { allOf, amongThreads } from './filter-condition.ts';
import { readSetting } from './indexed-fields.ts';
import {
  changedEntries,
  existedAt,
  type Selection,
  searchCondition,
  selectEntries,
  selectedKeys,
} from './select-entries.ts';

export async function getEntries(on: Statements, request: GetRequest): Promise<Entry[]> {
  const { ids, images, asOf, textChars } = request;
  const condition = allOf([
    amongKeys(on, ids),
    ...amongThreads(request, on.dialect),
    asOf === undefined ? live : existedAt(asOf, on.dialect),
  ]);
  const { sql, values } = newestFirst(on, entryColumns(on.dialect, textChars), condition, undefined, ids.length, 0);
  const rows = await on.query(sql, values, images || asOf !== undefined ? undefined : 'last');
  const found = await shown(on, rows, images, asOf);
  // A text of the past comes whole.
  return textChars === undefined || asOf === undefined ? found : found.map((entry) => shortened(entry, textChars));
}

export async function loadEntries(on: Statements, request: LoadRequest): Promise<LoadedEntries> {
  const { ids, images, asOf, textChars, order, bytesMax } = request;
  if (ids.length === 0) return { entries: [], rest: [] };
  const condition = allOf([
    amongKeys(on, ids),
    ...amongThreads(request, on.dialect),
    asOf === undefined ? live : existedAt(asOf, on.dialect),
  ]);
  if (!images && asOf === undefined) {
    const columns = shortColumns(on, textChars, bytesMax / ids.length);
    const { sql, values } = newestFirst(on, columns, condition, undefined, ids.length, 0);
    const rows = await on.query(sql, values, 'last');
    if (rows.every(isShort)) {
      const found = await entriesOf(on, rows, false);
      const byId = new Map(found.map((entry) => [entry.id, entry]));
      return { entries: order === 'newest' ? found : ids.flatMap((id) => byId.get(id) ?? []), rest: [] };
    }
  }
  const { sql, values } = newestFirst(on, sizes(on, images), condition, undefined, ids.length, 0);
  const sized = (await on.query(sql, values)).map((row) => sizeOf(row, textChars));
  const byKey = new Map(sized.map((size) => [size.key, size]));
  const ordered = order === 'newest' ? sized : ids.flatMap((id) => byKey.get(id) ?? []);
  const { whole, bare, rest } = within(ordered, bytesMax);
  const found = [
    ...(whole.length > 0 ? await getEntries(on, { ids: whole, images, asOf, textChars }) : []),
    ...(bare.length > 0 ? await getEntries(on, { ids: bare, images: false, asOf, textChars }) : []),
  ];
  const entries = new Map(found.map((entry) => [entry.id, entry]));
  return { entries: ordered.flatMap(({ key }) => entries.get(key) ?? []), rest };
}

export async function entryImage(on: Statements, request: ImageRequest): Promise<NewImage | undefined> {
  const { id, position } = request;
  const { sql, values } = allOf([live, ...amongThreads(request, on.dialect)]);
  const [row] = await on.query(
    `SELECT i.data, i.mime_type, i.metadata FROM ${on.dialect.schema}context_images i
      JOIN ${on.dialect.schema}context_entries o ON o.key = i.entry
      WHERE ${sql} AND i.entry = ? ORDER BY i.position LIMIT 1 OFFSET ?`,
    [...values, id, position],
  );
  return row && imageOf(row);
}

interface Size {
  readonly key: number;
  readonly bytes: number;
  readonly imageBytes: number;
}

/** As a rule all entries of a page are short, and one statement does. Each may have so many bytes, or comes without its text. */
function shortColumns(on: Statements, textChars: number | undefined, bytes: number): string {
  const { dialect } = on;
  const text = 'octet_length(o.text_content)';
  const cut = textChars === undefined ? text : dialect.least(text, String(4 * Math.ceil(textChars)));
  // Few different numbers make few different statements.
  const bytesMax = 2 ** Math.floor(Math.log2(Math.min(Math.max(1, bytes), 2 ** 31)));
  return entryColumns(dialect, textChars, `${cut} + ${otherBytes} > ${bytesMax}`);
}

function isShort(row: Row): boolean {
  return row['text_content'] !== null;
}

function shortened(entry: Entry, chars: number): Entry {
  return {
    ...entry,
    text: Array.from(entry.text.slice(0, 2 * chars))
      .slice(0, chars)
      .join(''),
  };
}

/** Known without reading what is measured. */
function sizes(on: Statements, images: boolean): string {
  const pictures = `(SELECT coalesce(sum(octet_length(i.data)), 0) FROM ${on.dialect.schema}context_images i WHERE i.entry = o.key)`;
  return `o.key, octet_length(o.text_content) AS text_bytes, ${otherBytes} AS other_bytes,
    ${images ? pictures : '0'} AS image_bytes`;
}

const otherBytes = 'coalesce(octet_length(o.metadata), 0) + coalesce(octet_length(o.summary), 0)';

function sizeOf(row: Row, textChars = Number.POSITIVE_INFINITY): Size {
  const text = Math.min(numberOf(row, 'text_bytes'), 4 * textChars);
  return {
    key: numberOf(row, 'key'),
    bytes: text + numberOf(row, 'other_bytes'),
    imageBytes: numberOf(row, 'image_bytes'),
  };
}

/** The first that fit together, with or without their images, and the keys of the others. */
function within(ordered: readonly Size[], bytesMax: number) {
  const whole: number[] = [];
  const bare: number[] = [];
  let used = 0;
  let taken = 0;
  for (const { key, bytes, imageBytes } of ordered) {
    const tooLarge = imageBytes > 0 && bytes + imageBytes > bytesMax;
    used += tooLarge ? bytes : bytes + imageBytes;
    if (taken > 0 && used > bytesMax) break;
    (tooLarge ? bare : whole).push(key);
    taken += 1;
  }
  return { whole, bare, rest: ordered.slice(taken).map(({ key }) => key) };
}

export async function listEntries(
  on: Statements,
  { filter, limit, offset, images, explain, textChars, bytesMax }: ListRequest,
): Promise<EntryPage> {
  const selection = await selectEntries(on, filter, 'read', 'some');
  const { asOf } = filter;
  const isWhole = bytesMax === undefined;
  const isDirect = !images && asOf === undefined && selection.passes === undefined;
  const direct = isDirect && !isWhole ? shortColumns(on, textChars, bytesMax / limit) : 'o.key';
  const columns = isWhole ? entryColumns(on.dialect) : direct;
  const page = newestFirst(on, columns, selection.condition, undefined, limit, offset);
  const rows =
    selection.passes === undefined
      ? await on.query(page.sql, page.values)
      : await testedRows(on, selection, isWhole ? columns : undefined, limit, offset);
  const ids = rows.map((row) => numberOf(row, 'key'));
  const { entries, rest } =
    isWhole || (isDirect && rows.every(isShort))
      ? { entries: await shown(on, rows, images, asOf), rest: [] }
      : await loadEntries(on, { ids, images, asOf, textChars, order: 'given', bytesMax });
  return { entries, rest, plan: explain ? await planOf(on, page, selection) : undefined };
}

export async function searchEntryWords(
  on: Statements,
  { query: words, filter, limit, offset, counts, explain }: WordSearchRequest,
): Promise<ScoredPage> {
  const among = (where: Condition) => ({
    sql: `SELECT o.key FROM ${on.dialect.schema}context_entries o WHERE ${where.sql}`,
    values: where.values,
  });
  const searching = searchCondition(on, filter);
  const keys = searching.then(
    ({ condition, isWide, onKeys, rows }) => condition && { ...among(condition), isWide, onKeys, rows },
  );
  const place = explain ? undefined : 'last';
  const page = { limit, offset, counts, place } as const;
  const { found, total, scoreMax, mended } = await findWords(on, entryWords, words, keys, page);
  const { selection } = await searching;
  return {
    hits: found.map(({ key, score, coverage }) => ({ id: key, score, coverage })),
    total,
    scoreMax,
    mended,
    plan: explain ? await planOf(on, among(selection.condition), selection) : undefined,
  };
}

export async function weighEntryWords(on: Statements, request: WeighRequest): Promise<WeighedWords> {
  return weighWords(on, entryWords, request, 'last');
}

export async function matchingEntries(on: Statements, filter: EntryFilter): Promise<number[]> {
  return selectedKeys(on, await selectEntries(on, filter, 'search', 'all'));
}

export async function entryTexts(on: Statements, { filter, after, limit }: TextsRequest): Promise<EntryText[]> {
  const { condition, passes } = await selectEntries(on, filter, 'read', 'some');
  const columns = filter.asOf === undefined ? 'o.key, o.text_content, o.metadata' : entryColumns(on.dialect);
  const found: Row[] = [];
  for (let from = after; ; ) {
    const rows = await on.query(
      `SELECT ${columns} FROM ${on.dialect.schema}context_entries o WHERE ${condition.sql} AND o.key > ?
        ORDER BY o.key LIMIT ?`,
      [...condition.values, from, limit],
    );
    found.push(...(passes === undefined ? rows : rows.filter(passes)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit || found.length >= limit) break;
    from = numberOf(last, 'key');
  }
  const wanted = found.slice(0, limit);
  if (filter.asOf === undefined)
    return wanted.map((row) => ({ id: numberOf(row, 'key'), text: textOf(row, 'text_content') }));
  return (await shown(on, wanted, false, filter.asOf)).map(({ id, text }) => ({ id, text }));
}

export async function pastGaps(on: Statements, filter: EntryFilter & { readonly asOf: string }): Promise<PastGaps> {
  const { found, sameText, unknown } = await changedEntries(on, filter, filter.asOf);
  const selection = await selectEntries(on, filter, 'read', 'all');
  const removed = allOf([selection.condition, { sql: 'o.deleted_at IS NOT NULL', values: [] }]);
  const same = new Set(sameText);
  const unsearched = new Set([
    ...(await selectedKeys(on, { ...selection, condition: removed })),
    ...found.filter((id) => !same.has(id)),
  ]);
  const purgedTo = await readSetting(on, 'purged_to', 'none');
  return { unknown, unsearched: unsearched.size, purged: purgedTo !== undefined && purgedTo > filter.asOf };
}

async function shown(
  on: Statements,
  rows: readonly Row[],
  images: boolean,
  asOf: string | undefined,
): Promise<Entry[]> {
  const found = await entriesOf(on, rows, images);
  return asOf === undefined ? found : await entriesThen(on, found, asOf);
}

function newestFirst(
  on: Statements,
  columns: string,
  condition: Condition,
  before: Row | undefined,
  limit: number,
  offset: number,
): Condition {
  const behind = before === undefined ? '' : 'AND (o.created_at, o.key) < (?, ?)';
  const place = before === undefined ? [] : [textOf(before, 'created_at'), numberOf(before, 'key')];
  return {
    sql: `SELECT ${columns} FROM ${on.dialect.schema}context_entries o WHERE ${condition.sql} ${behind}
      ORDER BY o.created_at DESC, o.key DESC LIMIT ? OFFSET ?`,
    values: [...condition.values, ...place, limit, offset],
  };
}

/** Goes through the metadata of what may pass, of more entries at a time the fewer of them do. */
async function testedRows(
  on: Statements,
  { condition, passes }: Selection,
  columns: string | undefined,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const found: Row[] = [];
  const wantedRows = limit + offset;
  let before: Row | undefined;
  let seen = 0;
  for (let size = wantedRows; ; ) {
    const page = newestFirst(on, 'o.key, o.created_at, o.metadata', condition, before, size, 0);
    const rows = await on.query(page.sql, page.values);
    for (const row of rows) if (passes?.(row)) found.push(row);
    before = rows.at(-1);
    if (before === undefined || rows.length < size || found.length >= wantedRows) break;
    seen += rows.length;
    // As many as should do, going by those that were seen: to find them is what takes the time.
    const needed = (1.2 * seen * (wantedRows - found.length)) / Math.max(1, found.length);
    size = Math.min(Math.ceil(needed), 4 * seen, 5_000);
  }
  const wanted = found.slice(offset, offset + limit);
  if (columns === undefined) return wanted;
  const keys = wanted.map((row) => numberOf(row, 'key'));
  const { sql, values } = newestFirst(on, columns, amongKeys(on, keys), undefined, limit, 0);
  return on.query(sql, values);
}

function amongKeys(on: Statements, keys: readonly number[]): Condition {
  return { sql: `o.key IN (${on.dialect.fewIntegers})`, values: [{ list: keys }] };
}

async function planOf(
  on: Statements,
  { sql, values }: { sql: string; values: readonly (SqlValue | ListValue)[] },
  { unindexed }: Selection,
): Promise<string> {
  const rows = await on.query(on.dialect.explain(sql), values);
  const tested = unindexed.map((name) => `metadata ${name}: not indexed, read from each of these entries`);
  return [...rows.map(on.dialect.planLine), ...tested].join('\n');
}

const live: Condition = { sql: 'o.deleted_at IS NULL', values: [] };
