import type { Statements } from '../dialect.ts';
import type { LeasedJob } from '../documents/job-queue.ts';
import {
  batchesOf,
  columnsOf,
  field,
  numberOf,
  type RecordOf,
  type Row,
  recordOf,
  type SqlValue,
  textOf,
  valuesOf,
} from '../rows.ts';
import { storableOrNull } from '../storable.ts';
import { type RunProgress, saveProgress } from './runs.ts';

/** `new`: not visited yet. `alias`: redirects to another page or names it as canonical. */
export type PageState = 'new' | 'stored' | 'duplicate' | 'alias' | 'skipped' | 'failed';

const pageFields = {
  url: field.text('url'),
  depth: field.number('depth'),
  state: field.text<PageState>('state'),
  document: field.optionalNumber('document'),
  etag: field.optionalText('etag'),
  lastModified: field.optionalText('last_modified'),
  /** Time of the last change according to the sitemap. */
  listedAt: field.optionalText('listed_at'),
  /** SHA-256 of the extracted text. */
  textHash: field.optionalText('text_hash'),
  sketch: field.optionalText('sketch'),
  /** The page that an alias or duplicate refers to. */
  target: field.optionalText('target'),
  /** Consecutive failures. */
  failures: field.number('failures'),
};

type PageRecord = RecordOf<typeof pageFields>;

/** The result of a visit to a page. */
export type VisitedPage = Partial<PageRecord> & Pick<PageRecord, 'url' | 'depth' | 'state' | 'failures'>;

const storedFields = {
  key: field.number('key'),
  ...pageFields,
  /** Id of the run that last changed this record. */
  run: field.number('run'),
  /** When that run retries the page, in ms of the database's clock. */
  retryAt: field.optionalNumber('retry_at'),
};

export type StoredPage = RecordOf<typeof storedFields>;

export interface PageChange extends VisitedPage {
  /** The run retries the page after this time. */
  readonly retryMs?: number | undefined;
}

export interface SavedPages extends LeasedJob {
  readonly source: number;
  readonly pages: readonly PageChange[];
  readonly removed?: readonly number[] | undefined;
  readonly links?: NewLinks | undefined;
  readonly progress: RunProgress;
}

export interface NewLinks {
  readonly urls: readonly string[];
  readonly depth: number;
  /** Max pages of the source. */
  readonly pagesMax: number;
}

/** `dropped` counts the links beyond `pagesMax`. Undefined if the run belongs to another process: nothing was saved. */
export type SaveOutcome = { readonly added: number; readonly dropped: number } | undefined;

/** Returns the pages after a key, in the order of their discovery. */
export async function nextPages(
  db: Statements,
  { source, after, limit }: { source: number; after: number; limit: number },
): Promise<StoredPage[]> {
  const rows = await db.query('SELECT * FROM web_pages WHERE source = ? AND key > ? ORDER BY key LIMIT ?', [
    source,
    after,
    limit,
  ]);
  return rows.map(pageOf);
}

export async function pagesByUrl(
  db: Statements,
  { source, urls }: { source: number; urls: readonly string[] },
): Promise<StoredPage[]> {
  const rows = await db.query(`SELECT * FROM web_pages WHERE source = ? AND url IN (${db.dialect.texts})`, [
    source,
    { list: urls },
  ]);
  return rows.map(pageOf);
}

/** Returns the pages that this run will retry, earliest first, with the remaining time until each retry. */
export async function retriedPages(
  db: Statements,
  { source, run }: { source: number; run: number },
): Promise<{ page: StoredPage; waitMs: number }[]> {
  const { nowMs } = db.dialect;
  const rows = await db.query(
    `SELECT *, retry_at - ${nowMs} AS wait FROM web_pages
      WHERE source = ? AND run = ? AND retry_at IS NOT NULL ORDER BY retry_at LIMIT 20`,
    [source, run],
  );
  return rows.map((row) => ({ page: pageOf(row), waitMs: Math.max(0, numberOf(row, 'wait')) }));
}

/** Returns all addresses of a source, with hash and sketch of each stored text, for finding duplicates. */
export async function sourcePages(
  db: Statements,
  { source }: { source: number },
): Promise<Pick<StoredPage, 'url' | 'state' | 'textHash' | 'sketch'>[]> {
  const { url, state, textHash, sketch } = pageFields;
  const fields = { url, state, textHash, sketch };
  const rows = await db.query(`SELECT ${columnsOf(fields)} FROM web_pages WHERE source = ? ORDER BY key`, [source]);
  return rows.map((row) => recordOf(fields, row));
}

/** Saves pages, new links and the run's progress in one transaction. */
export async function savePages(
  db: Statements,
  { source, pages, removed = [], links, progress, ...run }: SavedPages,
): Promise<SaveOutcome> {
  const { integers } = db.dialect;
  if (!(await saveProgress(db, { ...run, progress }))) return undefined;
  for (const page of pages) {
    await savePage(db, source, run.id, page);
    if (page.state === 'failed' || page.state === 'skipped') await retryFollowers(db, source, run.id, page.url);
  }
  if (removed.length > 0) {
    const deleted = await db.query(`DELETE FROM web_pages WHERE key IN (${integers}) RETURNING url`, [
      { list: removed },
    ]);
    for (const row of deleted) await retryFollowers(db, source, run.id, textOf(row, 'url'));
  }
  return links === undefined ? { added: 0, dropped: 0 } : addLinks(db, source, links);
}

async function savePage(db: Statements, source: number, run: number, { retryMs, ...page }: PageChange): Promise<void> {
  const { nowMs } = db.dialect;
  const row: Record<string, SqlValue> = {
    depth: page.depth,
    state: page.state,
    document: page.document ?? null,
    etag: storableOrNull(page.etag),
    last_modified: storableOrNull(page.lastModified),
    listed_at: storableOrNull(page.listedAt),
    text_hash: page.textHash ?? null,
    sketch: page.sketch ?? null,
    target: page.target ?? null,
    run,
    failures: page.failures,
  };
  const { columns, placeholders, values } = valuesOf({ source, url: page.url, ...row });
  const changes = Object.keys(row).map((column) => `${column} = excluded.${column}`);
  const retryAt = retryMs === undefined ? 'NULL' : `${nowMs} + ?`;
  await db.query(
    `INSERT INTO web_pages (${columns}, retry_at) VALUES (${placeholders}, ${retryAt})
      ON CONFLICT (source, url) DO UPDATE SET ${changes.join(', ')}, retry_at = excluded.retry_at`,
    [...values, ...(retryMs === undefined ? [] : [retryMs])],
  );
}

/** Schedules visits to the aliases and duplicates of a page whose text is no longer stored. One of them may replace it. */
async function retryFollowers(db: Statements, source: number, run: number, target: string): Promise<void> {
  const { nowMs } = db.dialect;
  await db.query(
    `UPDATE web_pages SET retry_at = ${nowMs}, run = ?, etag = NULL, last_modified = NULL
      WHERE source = ? AND target = ? AND state IN ('alias', 'duplicate')`,
    [run, source, target],
  );
}

async function addLinks(db: Statements, source: number, links: NewLinks): Promise<SaveOutcome> {
  const { texts, rowsPerInsert } = db.dialect;
  const { urls, depth, pagesMax } = links;
  const [count = {}] = await db.query('SELECT count(*) AS pages FROM web_pages WHERE source = ?', [source]);
  const rows = await db.query(`SELECT url FROM web_pages WHERE source = ? AND url IN (${texts})`, [
    source,
    { list: urls },
  ]);
  const existing = new Set(rows.map((row) => textOf(row, 'url')));
  const fresh = urls.filter((url) => !existing.has(url));
  const added = fresh.slice(0, Math.max(0, pagesMax - numberOf(count, 'pages')));
  for (const batch of batchesOf(added, rowsPerInsert)) {
    const { sql, values } = db.dialect.rows(
      ['bigint', 'text', 'integer', 'text', 'bigint', 'integer'],
      batch.map((url) => [source, url, depth, 'new', 0, 0]),
    );
    await db.query(`INSERT INTO web_pages (source, url, depth, state, run, failures) ${sql}`, values);
  }
  return { added: added.length, dropped: fresh.length - added.length };
}

function pageOf(row: Row): StoredPage {
  return recordOf(storedFields, row);
}
