import type { Statements } from '../dialect.ts';
import { type BoundValue, field, numberOf, type RecordOf, recordOf, type SqlFragment, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { getJob, jobColumns, jobOf, type PhaseProgress, type StoredJob } from './jobs.ts';

/** Lists the processes that have leases on jobs. */
export async function leaseOwners(db: Statements): Promise<string[]> {
  const rows = await db.query(`SELECT DISTINCT lease_owner FROM kb_jobs WHERE status = 'processing'`);
  return rows.map((row) => textOf(row, 'lease_owner'));
}

const claimedFields = {
  id: field.number('key'),
  filename: field.text('filename'),
  title: field.optionalText('title'),
  docType: field.optionalText('doc_type'),
  sourcePath: field.optionalText('source_path'),
  contentType: field.text('content_type'),
  contentHash: field.text('content_hash'),
  note: field.optionalText('note'),
  /** Number of attempts that ended because the process died or its lease expired. */
  crashes: field.number('crashes'),
  /** Number of attempts that were postponed. */
  retries: field.number('retries'),
  submitter: field.text('submitter'),
};

export type ClaimedJob = RecordOf<typeof claimedFields>;

interface ClaimRequest {
  readonly owner: string;
  readonly leaseMs: number;
  /** If set, claims only a job with at most this many bytes and no earlier attempts. Prefers notes and plain text. */
  readonly quickBytesMax?: number | undefined;
  /** The submitter of the last claimed job. The next submitter in alphabetical order follows. */
  readonly lastSubmitter?: string | undefined;
}

/**
 * Claims a job whose lease has expired or, if there is none, the next job that is due. Alternates between submitters, so that many
 * slow files of one submitter don't delay other submitters. Jobs that crashed a process come last.
 */
export async function claimJob(
  db: Statements,
  { owner, leaseMs, quickBytesMax, lastSubmitter = '' }: ClaimRequest,
): Promise<ClaimedJob | undefined> {
  const { nowMs } = db.dialect;
  const isDue = `kind = 'ingest' AND status = 'queued' AND run_after <= ${nowMs}`;
  const key =
    quickBytesMax === undefined
      ? ((await firstJob(db, `kind = 'ingest' AND status = 'processing' AND lease_until < ${nowMs} ORDER BY key`)) ??
        (await firstJob(db, `${isDue} AND crashes = 0 AND submitter > ? ORDER BY submitter, key`, [lastSubmitter])) ??
        (await firstJob(db, `${isDue} AND crashes = 0 ORDER BY submitter, key`)) ??
        (await firstJob(db, `${isDue} ORDER BY crashes, key`)))
      : await firstJob(
          db,
          `${isDue} AND crashes = 0 AND attempts = 0 AND bytes <= ?
           ORDER BY CASE WHEN note IS NOT NULL OR content_type LIKE 'text/%' THEN 0 ELSE 1 END, key`,
          [quickBytesMax],
        );
  if (key === undefined) return undefined;
  const [row = {}] = await db.query(
    `UPDATE kb_jobs SET crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END,
      status = 'processing', attempts = attempts + 1, lease_owner = ?, lease_until = ${nowMs} + ?,
      phase = 'received', phase_done = NULL, phase_total = NULL, updated_at = ? WHERE key = ? RETURNING *`,
    [owner, leaseMs, db.now, key],
  );
  return recordOf(claimedFields, row);
}

/** Returns the first job that matches and that no other process is claiming. `condition` includes ORDER BY. */
async function firstJob(
  { query, dialect: { skipLocked } }: Statements,
  condition: string,
  values: readonly BoundValue[] = [],
): Promise<number | undefined> {
  const [row] = await query(`SELECT key FROM kb_jobs WHERE ${condition} LIMIT 1 ${skipLocked}`, values);
  return row && numberOf(row, 'key');
}

/** A job and the process that has leased it. */
export interface LeasedJob {
  readonly id: number;
  readonly owner: string;
}

/** Changes a job. `change` follows SET. Returns false if the owner has lost its lease and must stop. */
export async function changeLeasedJob(db: Statements, { id, owner }: LeasedJob, change: SqlFragment): Promise<boolean> {
  const rows = await db.query(
    `UPDATE kb_jobs SET ${change.sql} WHERE key = ? AND status = 'processing' AND lease_owner = ? RETURNING key`,
    [...change.values, id, owner],
  );
  return rows.length > 0;
}

/** Assignments that end the lease. */
const withoutLease = 'lease_owner = NULL, lease_until = NULL';

/** Assignments for a job that has ended. They also delete a note's text, which is no longer needed. */
export const endJobSql = `note = NULL, ${withoutLease}`;

export async function renewJob(
  db: Statements,
  { leaseMs, progress, ...job }: LeasedJob & { leaseMs: number; progress: PhaseProgress | undefined },
): Promise<boolean> {
  const change = progress && progressChange(db, progress);
  return changeLeasedJob(db, job, {
    sql: `lease_until = ${db.dialect.nowMs} + ?${change ? `, ${change.sql}` : ''}`,
    values: [leaseMs, ...(change?.values ?? [])],
  });
}

function progressChange({ now }: Statements, { phase, done, total }: PhaseProgress): SqlFragment {
  return {
    sql: 'phase = ?, phase_done = ?, phase_total = ?, updated_at = ?',
    values: [phase, done ?? null, total ?? null, now],
  };
}

interface FailRequest extends LeasedJob {
  /** The progress so far. Undefined if no phase was started. */
  readonly progress?: PhaseProgress | undefined;
  readonly code: string;
  readonly message: string;
}

export async function failJob(db: Statements, { code, message, progress, ...job }: FailRequest): Promise<boolean> {
  const change = progressChange(db, progress ?? { phase: 'received' });
  return changeLeasedJob(db, job, {
    sql: `status = 'failed', error = ?, error_code = ?, ${change.sql}, ${endJobSql}`,
    values: [storable(message), code, ...change.values],
  });
}

/** Puts the job back in the queue for at least `delayMs`. `message` tells people why. */
export async function postponeJob(
  db: Statements,
  { delayMs, message, ...job }: LeasedJob & { delayMs: number; message: string },
): Promise<boolean> {
  return changeLeasedJob(db, job, {
    sql: `status = 'queued', retries = retries + 1, run_after = ${db.dialect.nowMs} + ?, error = ?, updated_at = ?, ${withoutLease}`,
    values: [delayMs, storable(message), db.now],
  });
}

/** After more crashes than this, a job waits before each retry, so that it does not keep crashing processes. */
const suspectCrashes = 5;
const suspectDelayMs = 10_000;

/** Puts all jobs of these owners back in the queue. The attempt counts only if the owners `crashed`. Returns the number of jobs. */
export async function giveBackJobs(
  db: Statements,
  { owners, crashed }: { owners: readonly string[]; crashed: boolean },
): Promise<number> {
  const rows = await db.query(
    `UPDATE kb_jobs SET status = 'queued', crashes = crashes + ?, attempts = attempts - ?,
      run_after = CASE WHEN crashes + ? > ? THEN ${db.dialect.nowMs} + ? ELSE 0 END, updated_at = ?, ${withoutLease}
      WHERE status = 'processing' AND lease_owner IN (${db.dialect.texts}) RETURNING key`,
    [crashed ? 1 : 0, crashed ? 0 : 1, crashed ? 1 : 0, suspectCrashes, suspectDelayMs, db.now, { list: owners }],
  );
  return rows.length;
}

/** Cancels a job, even if it is running. Has no effect on a job that has ended. */
export async function cancelJob(db: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [cancelled] = await db.query(
    `UPDATE kb_jobs SET status = 'cancelled', updated_at = ?, ${endJobSql}
      WHERE key = ? AND status IN ('queued', 'processing') RETURNING ${jobColumns}`,
    [db.now, id],
  );
  return cancelled === undefined ? getJob(db, { id }) : jobOf(cancelled);
}
