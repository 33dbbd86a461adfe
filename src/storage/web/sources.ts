import type { Statements } from '../dialect.ts';
import { cancelJob } from '../documents/job-queue.ts';
import { insertJob } from '../documents/jobs.ts';
import { lock } from '../idempotency.ts';
import { field, numberOf, type RecordOf, type Row, recordOf } from '../rows.ts';
import { storable } from '../storable.ts';

export interface SourceSettings {
  /** True if links below the path are followed. */
  readonly follows: boolean;
  readonly listing?: 'sitemap' | 'feed' | undefined;
  /** Title of a single page. */
  readonly title?: string | undefined;
  readonly depth: number;
  /** Max pages of the source. */
  readonly pages: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Hours between two refreshes; null if the source is never refreshed. */
  readonly refreshHours: number | null;
}

export interface NewSource {
  readonly url: string;
  /** Tags of the documents. The first is their collection. */
  readonly tags: readonly string[];
  readonly settings: SourceSettings;
}

const sourceFields = {
  id: field.number('key'),
  url: field.text('url'),
  tags: field.json<readonly string[]>('tags'),
  settings: field.json<SourceSettings>('settings'),
  /** Id of the latest run. */
  job: field.optionalNumber('job'),
  pausedAt: field.optionalText('paused_at'),
  createdAt: field.text('created_at'),
};

export interface StoredSource extends RecordOf<typeof sourceFields> {
  readonly lastRun: Readonly<Record<string, unknown>> | undefined;
  /** ISO 8601, UTC. Undefined if no refresh is planned. */
  readonly nextRefresh: string | undefined;
}

export interface ListedSource extends StoredSource {
  readonly pages: number;
  readonly documents: number;
  /** True if a run is queued or running. */
  readonly isActive: boolean;
}

/** Random shift of a refresh, so that sources added together are not all refreshed at the same time. */
interface Jitter {
  /** From -1 (earliest) to 1 (latest). The limits shift a refresh by `jitterShare` of its period. */
  readonly jitter: number;
}

const jitterShare = 0.1;
const hourMs = 3_600_000;

/** Adds a source and starts a run. If the collection already has this address, updates the source's settings. */
export async function addSource(
  db: Statements,
  { url, tags, settings, jitter }: NewSource & Jitter,
): Promise<{ source: StoredSource; job: number; isNew: boolean }> {
  await lock(db, `web source ${url}`);
  const existing = (await db.query(`SELECT * FROM web_sources WHERE url = ? ${db.dialect.forUpdate}`, [url])).find(
    (row) => sourceOf(row).tags[0] === tags[0],
  );
  const values = [storable(JSON.stringify(tags)), storable(JSON.stringify(settings)), refreshDelayMs(settings, jitter)];
  const [row = {}] =
    existing === undefined
      ? await db.query(
          `INSERT INTO web_sources (url, created_at, tags, settings, next_at)
            VALUES (?, ?, ?, ?, ${db.dialect.nowMs} + ?) RETURNING *`,
          [url, db.now, ...values],
        )
      : await db.query(
          `UPDATE web_sources SET tags = ?, settings = ?, next_at = ${db.dialect.nowMs} + ?, paused_at = NULL
            WHERE key = ? RETURNING *`,
          [...values, numberOf(existing, 'key')],
        );
  const source = sourceOf(row);
  const job = await startRun(db, source);
  return { source: { ...source, job }, job, isNew: existing === undefined };
}

/** Lists sources with at least one of the tags, by id. Without `anyTags`, lists all. */
export async function listSources(
  db: Statements,
  { anyTags, ids }: { anyTags?: readonly string[] | undefined; ids?: readonly number[] | undefined },
): Promise<ListedSource[]> {
  const { integers } = db.dialect;
  const rows = await db.query(
    `SELECT s.*, (SELECT count(*) FROM web_pages p WHERE p.source = s.key) AS pages,
      (SELECT count(document) FROM web_pages p WHERE p.source = s.key AND p.state = 'stored') AS documents,
      (SELECT count(*) FROM kb_jobs j WHERE j.key = s.job AND j.status IN ('queued', 'processing')) AS active
      FROM web_sources s ${ids ? `WHERE s.key IN (${integers})` : ''} ORDER BY s.key`,
    ids ? [{ list: ids }] : [],
  );
  return rows
    .map((row) => ({
      ...sourceOf(row),
      pages: numberOf(row, 'pages'),
      documents: numberOf(row, 'documents'),
      isActive: numberOf(row, 'active') > 0,
    }))
    .filter(({ tags }) => anyTags === undefined || tags.some((tag) => anyTags.includes(tag)));
}

/** Returns the run that is queued or running, or starts one. Undefined if the source does not exist. */
export async function startSource(db: Statements, { id }: { id: number }): Promise<number | undefined> {
  const source = await lockedSource(db, id);
  return source && startRun(db, source);
}

/** Starts the refreshes that are due. Skips sources that another process is starting. */
export async function startDue(db: Statements, { jitter }: Jitter): Promise<number> {
  const { nowMs, skipLocked } = db.dialect;
  const rows = await db.query(
    `SELECT * FROM web_sources WHERE next_at IS NOT NULL AND paused_at IS NULL AND next_at <= ${nowMs}
      ORDER BY next_at LIMIT 20 ${skipLocked}`,
  );
  for (const source of rows.map(sourceOf)) {
    await startRun(db, source);
    await db.query(`UPDATE web_sources SET next_at = ${nowMs} + ? WHERE key = ?`, [
      refreshDelayMs(source.settings, jitter),
      source.id,
    ]);
  }
  return rows.length;
}

/** Pauses or resumes a source. Pausing also cancels its run. A resumed source is due immediately, unless it is never refreshed. */
export async function pauseSource(db: Statements, { id, paused }: { id: number; paused: boolean }): Promise<boolean> {
  const { nowMs } = db.dialect;
  const source = await lockedSource(db, id);
  if (source === undefined) return false;
  if (paused && source.job !== undefined) await cancelJob(db, { id: source.job });
  const resumes = !paused && source.settings.refreshHours !== null;
  await db.query(`UPDATE web_sources SET paused_at = ?${resumes ? `, next_at = ${nowMs}` : ''} WHERE key = ?`, [
    paused ? (source.pausedAt ?? db.now) : null,
    id,
  ]);
  return true;
}

/** Removes a source and cancels its run. The documents of its pages stay; returns their ids. */
export async function removeSource(
  db: Statements,
  { id }: { id: number },
): Promise<{ url: string; documents: number[] } | undefined> {
  const source = await lockedSource(db, id);
  if (source === undefined) return undefined;
  if (source.job !== undefined) await cancelJob(db, { id: source.job });
  const rows = await db.query(
    `SELECT document FROM web_pages WHERE source = ? AND state = 'stored' AND document IS NOT NULL ORDER BY key`,
    [id],
  );
  await db.query('DELETE FROM web_sources WHERE key = ?', [id]);
  return { url: source.url, documents: rows.map((row) => numberOf(row, 'document')) };
}

export function sourceOf(row: Row): StoredSource {
  const { lastRun, nextAt } = recordOf(runFields, row);
  return {
    ...recordOf(sourceFields, row),
    lastRun: lastRun === undefined ? undefined : JSON.parse(lastRun),
    nextRefresh: nextAt === undefined ? undefined : new Date(nextAt).toISOString(),
  };
}

const runFields = { lastRun: field.optionalText('last_run'), nextAt: field.optionalNumber('next_at') };

/** Returns the milliseconds until the next refresh; null if the source is never refreshed. */
function refreshDelayMs({ refreshHours }: SourceSettings, jitter: number): number | null {
  return refreshHours === null ? null : Math.round(refreshHours * hourMs * (1 + jitterShare * jitter));
}

async function lockedSource(db: Statements, id: number): Promise<StoredSource | undefined> {
  const { forUpdate } = db.dialect;
  const [row] = await db.query(`SELECT * FROM web_sources WHERE key = ? ${forUpdate}`, [id]);
  return row && sourceOf(row);
}

/** Starts a run unless one is already queued or running. The caller must have locked the source. */
async function startRun(db: Statements, { id, url, tags, job }: StoredSource): Promise<number> {
  const [active] = await db.query(`SELECT key FROM kb_jobs WHERE key = ? AND status IN ('queued', 'processing')`, [
    job ?? 0,
  ]);
  if (active !== undefined) return numberOf(active, 'key');
  const run = await insertJob(db, {
    kind: 'crawl',
    status: 'queued',
    phase: 'received',
    filename: url,
    source_path: url,
    tags: storable(JSON.stringify(tags)),
    details: JSON.stringify({ source: id }),
  });
  await db.query('UPDATE web_sources SET job = ? WHERE key = ?', [run.id, id]);
  return run.id;
}
