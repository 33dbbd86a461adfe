import type { Statements } from '../dialect.ts';
import { cancelJob } from '../documents/job-queue.ts';
import { insertJob } from '../documents/jobs.ts';
import { lock } from '../idempotency.ts';
import { field, type RecordOf, recordOf } from '../record.ts';
import { numberOf, type Row } from '../rows.ts';
import { storable } from '../storable.ts';

export interface SourceSettings {
  /** True if links below the path are followed. */
  readonly follows: boolean;
  readonly listing?: 'sitemap' | 'feed' | undefined;
  /** For a single page. */
  readonly title?: string | undefined;
  readonly depth: number;
  /** Max addresses of the source. */
  readonly pages: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Hours between two refreshes; null for never. */
  readonly refreshHours: number | null;
}

export interface NewSource {
  readonly url: string;
  /** The collection first. */
  readonly tags: readonly string[];
  readonly settings: SourceSettings;
}

const sourceFields = {
  id: field.number('key'),
  url: field.text('url'),
  tags: field.json<readonly string[]>('tags'),
  settings: field.json<SourceSettings>('settings'),
  /** The latest run. */
  job: field.optionalNumber('job'),
  pausedAt: field.optionalText('paused_at'),
  createdAt: field.text('created_at'),
};

export interface StoredSource extends RecordOf<typeof sourceFields> {
  readonly lastRun: Readonly<Record<string, unknown>> | undefined;
  /** ISO 8601, UTC. Undefined: none is planned. */
  readonly nextRefresh: string | undefined;
}

export interface ListedSource extends StoredSource {
  readonly pages: number;
  readonly documents: number;
  /** True if a run is queued or running. */
  readonly isActive: boolean;
}

/** Share of its period by which a refresh is early or late, so that sources added together spread out. */
interface Jitter {
  /** -1 to 1. */
  readonly jitter: number;
}

const jitterShare = 0.1;
const hourMs = 3_600_000;

/** Adds a source and starts its first run. An existing one of the same address and collection gets the new settings instead. */
export async function addSource(
  on: Statements,
  { url, tags, settings, jitter }: NewSource & Jitter,
): Promise<{ source: StoredSource; job: number; isNew: boolean }> {
  const table = `${on.dialect.schema}web_sources`;
  await lock(on, `web source ${url}`);
  const known = (await on.query(`SELECT * FROM ${table} WHERE url = ? ${on.dialect.forUpdate}`, [url])).find(
    (row) => sourceOf(row).tags[0] === tags[0],
  );
  const values = [storable(JSON.stringify(tags)), storable(JSON.stringify(settings)), ...nextAt(settings, jitter)];
  const [row = {}] =
    known === undefined
      ? await on.query(
          `INSERT INTO ${table} (url, created_at, tags, settings, next_at)
            VALUES (?, ?, ?, ?, ${on.dialect.nowMs} + ?) RETURNING *`,
          [url, on.now, ...values],
        )
      : await on.query(
          `UPDATE ${table} SET tags = ?, settings = ?, next_at = ${on.dialect.nowMs} + ?, paused_at = NULL
            WHERE key = ? RETURNING *`,
          [...values, numberOf(known, 'key')],
        );
  const source = sourceOf(row);
  const job = await startRun(on, source);
  return { source: { ...source, job }, job, isNew: known === undefined };
}

/** Sources with at least one of the tags, or all sources without `anyTags`. Ordered by id. */
export async function listSources(
  on: Statements,
  { anyTags, ids }: { anyTags?: readonly string[] | undefined; ids?: readonly number[] | undefined },
): Promise<ListedSource[]> {
  const { schema, integers } = on.dialect;
  const rows = await on.query(
    `SELECT s.*, (SELECT count(*) FROM ${schema}web_pages p WHERE p.source = s.key) AS pages,
      (SELECT count(document) FROM ${schema}web_pages p WHERE p.source = s.key AND p.state = 'stored') AS documents,
      (SELECT count(*) FROM ${schema}kb_jobs j WHERE j.key = s.job AND j.status IN ('queued', 'processing')) AS active
      FROM ${schema}web_sources s ${ids ? `WHERE s.key IN (${integers})` : ''} ORDER BY s.key`,
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

/** The queued or running run, or a new one. Undefined if the source does not exist. */
export async function startSource(on: Statements, { id }: { id: number }): Promise<number | undefined> {
  const source = await lockedSource(on, id);
  return source && startRun(on, source);
}

/** Starts due refreshes. Skips sources that another process is starting. */
export async function startDue(on: Statements, { jitter }: Jitter): Promise<number> {
  const { schema, nowMs, skipLocked } = on.dialect;
  const rows = await on.query(
    `SELECT * FROM ${schema}web_sources WHERE next_at IS NOT NULL AND paused_at IS NULL AND next_at <= ${nowMs}
      ORDER BY next_at LIMIT 20 ${skipLocked}`,
  );
  for (const source of rows.map(sourceOf)) {
    await startRun(on, source);
    await on.query(`UPDATE ${schema}web_sources SET next_at = ${nowMs} + ? WHERE key = ?`, [
      ...nextAt(source.settings, jitter),
      source.id,
    ]);
  }
  return rows.length;
}

/** Pausing also stops the run. A resumed source is refreshed at once, if it has refreshes. */
export async function pauseSource(on: Statements, { id, paused }: { id: number; paused: boolean }): Promise<boolean> {
  const { schema, nowMs } = on.dialect;
  const source = await lockedSource(on, id);
  if (source === undefined) return false;
  if (paused && source.job !== undefined) await cancelJob(on, { id: source.job });
  const resumes = !paused && source.settings.refreshHours !== null;
  await on.query(
    `UPDATE ${schema}web_sources SET paused_at = ?${resumes ? `, next_at = ${nowMs}` : ''} WHERE key = ?`,
    [paused ? (source.pausedAt ?? on.now) : null, id],
  );
  return true;
}

/** Cancels its run. The documents of its pages stay; returns their ids. */
export async function removeSource(
  on: Statements,
  { id }: { id: number },
): Promise<{ url: string; documents: number[] } | undefined> {
  const { schema } = on.dialect;
  const source = await lockedSource(on, id);
  if (source === undefined) return undefined;
  if (source.job !== undefined) await cancelJob(on, { id: source.job });
  const rows = await on.query(
    `SELECT document FROM ${schema}web_pages WHERE source = ? AND state = 'stored' AND document IS NOT NULL ORDER BY key`,
    [id],
  );
  await on.query(`DELETE FROM ${schema}web_sources WHERE key = ?`, [id]);
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

/** Milliseconds from now to the next refresh; null if none follows. */
function nextAt({ refreshHours }: SourceSettings, jitter: number): [number | null] {
  return [refreshHours === null ? null : Math.round(refreshHours * hourMs * (1 + jitterShare * jitter))];
}

async function lockedSource(on: Statements, id: number): Promise<StoredSource | undefined> {
  const { schema, forUpdate } = on.dialect;
  const [row] = await on.query(`SELECT * FROM ${schema}web_sources WHERE key = ? ${forUpdate}`, [id]);
  return row && sourceOf(row);
}

/** At most one run of a source is queued or running. The caller has locked the source. */
async function startRun(on: Statements, { id, url, tags, job }: StoredSource): Promise<number> {
  const { schema } = on.dialect;
  const [active] = await on.query(
    `SELECT key FROM ${schema}kb_jobs WHERE key = ? AND status IN ('queued', 'processing')`,
    [job ?? 0],
  );
  if (active !== undefined) return numberOf(active, 'key');
  const run = await insertJob(on, {
    ...{ kind: 'crawl', status: 'queued', phase: 'received', filename: url, source_path: url },
    tags: storable(JSON.stringify(tags)),
    details: JSON.stringify({ source: id }),
  });
  await on.query(`UPDATE ${schema}web_sources SET job = ? WHERE key = ?`, [run.id, id]);
  return run.id;
}
