import type { Statements } from '../dialect.ts';
import { changeLeasedJob, endJobSql, type LeasedJob } from '../documents/job-queue.ts';
import { numberOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { type StoredSource, sourceOf } from './sources.ts';

export interface ClaimedRun {
  /** Id of the job. */
  readonly id: number;
  readonly source: StoredSource;
  /** The state that the previous process saved. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** Progress of a run. `state` lets another process continue the run; the counts are shown to people. */
export interface RunProgress {
  readonly state: Readonly<Record<string, unknown>>;
  readonly done: number;
  readonly total: number;
}

/** Claims the oldest run that is queued or whose lease has expired. With `ids`, only one of these. */
export async function claimRun(
  db: Statements,
  { owner, leaseMs, ids }: { owner: string; leaseMs: number; ids?: readonly number[] | undefined },
): Promise<ClaimedRun | undefined> {
  const { nowMs, skipLocked, integers } = db.dialect;
  const [job] = await db.query(
    `SELECT * FROM kb_jobs WHERE kind = 'crawl' AND ((status = 'queued' AND run_after <= ${nowMs})
      OR (status = 'processing' AND lease_until < ${nowMs})) ${ids ? `AND key IN (${integers})` : ''}
      ORDER BY key LIMIT 1 ${skipLocked}`,
    ids ? [{ list: ids }] : [],
  );
  if (job === undefined) return undefined;
  const id = numberOf(job, 'key');
  const state = JSON.parse(textOf(job, 'details'));
  const [source] = await db.query('SELECT * FROM web_sources WHERE key = ?', [Number(state.source)]);
  if (source === undefined) return undefined;
  await db.query(
    `UPDATE kb_jobs SET status = 'processing', phase = 'crawling', attempts = attempts + 1, lease_owner = ?,
      lease_until = ${nowMs} + ?, updated_at = ? WHERE key = ?`,
    [owner, leaseMs, db.now, id],
  );
  return { id, source: sourceOf(source), state };
}

/** Renews the lease and saves the progress. Returns false if the run belongs to another process or was cancelled. */
export async function renewRun(
  db: Statements,
  { leaseMs, ...run }: LeasedJob & { leaseMs: number; progress: RunProgress },
): Promise<boolean> {
  const lease = { sql: `lease_until = ${db.dialect.nowMs} + ?`, values: [leaseMs] };
  return (await changeLeasedJob(db, run, lease)) && saveProgress(db, run);
}

/** Saves the run's progress. Returns false if the run no longer belongs to this owner. */
export async function saveProgress(
  db: Statements,
  { progress: { state, done, total }, ...run }: LeasedJob & { progress: RunProgress },
): Promise<boolean> {
  return changeLeasedJob(db, run, {
    sql: 'details = ?, phase_done = ?, phase_total = ?, updated_at = ?',
    values: [storable(JSON.stringify(state)), done, total, db.now],
  });
}

/** Ends the run and stores its summary in the source. Returns false if the run belongs to another process or was cancelled. */
export async function endRun(
  db: Statements,
  {
    id,
    owner,
    progress,
    error,
  }: LeasedJob & { progress: RunProgress; error?: { code: string; message: string } | undefined },
): Promise<boolean> {
  if (!(await saveProgress(db, { id, owner, progress }))) return false;
  const status = error === undefined ? 'done' : 'failed';
  await changeLeasedJob(
    db,
    { id, owner },
    {
      sql: `status = ?, error = ?, error_code = ?, ${endJobSql}`,
      values: [status, error === undefined ? null : storable(error.message), error?.code ?? null],
    },
  );
  const run = { job_id: id, ended_at: db.now, status, ...(error && { error: error.message }), ...summaryOf(progress) };
  await db.query('UPDATE web_sources SET last_run = ? WHERE job = ?', [storable(JSON.stringify(run)), id]);
  return true;
}

function summaryOf({ state }: RunProgress): object {
  const { summary } = state;
  return typeof summary === 'object' && summary !== null ? summary : {};
}
