import type { JobCounts, JobListRequest, StoredJob, StoredJobPage } from '../../contracts/ingestion.ts';
import type { Within } from '../../contracts/within.ts';
import type { Statements } from '../../dialect.ts';
import { type Condition, numberOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { jobColumns, jobOf } from './document-rows.ts';

export async function getJob(on: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [row] = await on.query(`SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs WHERE key = ?`, [id]);
  return row === undefined ? undefined : jobOf(row);
}

export async function listJobs(
  on: Statements,
  { status, anyTags, limit, offset }: JobListRequest,
): Promise<StoredJobPage> {
  const narrowed = withinTags(on, anyTags);
  const parts = [...(status === undefined ? [] : ['status = ?']), ...(narrowed ? [narrowed.sql] : [])];
  const where = parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`;
  const values = [...(status === undefined ? [] : [status]), ...(narrowed?.values ?? [])];
  const rows = await on.query(
    `SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs ${where} ORDER BY key DESC LIMIT ? OFFSET ?`,
    [...values, limit, offset],
  );
  const [count = {}] = await on.query(`SELECT count(*) AS total FROM ${on.dialect.schema}kb_jobs ${where}`, values);
  return { jobs: rows.map(jobOf), total: numberOf(count, 'total') };
}

/** Jobs that have at least one of the tags. */
function withinTags({ dialect }: Statements, tags: readonly string[] | undefined): Condition | undefined {
  if (tags === undefined) return undefined;
  return {
    sql: `EXISTS (SELECT 1 FROM ${dialect.elements('tags')} WHERE element.value IN (${dialect.texts}))`,
    values: [{ list: tags.map(storable) }],
  };
}

export async function countJobs(on: Statements, { anyTags }: Within): Promise<JobCounts> {
  const narrowed = withinTags(on, anyTags);
  const counts = { queued: 0, processing: 0, done: 0, failed: 0, cancelled: 0 };
  for (const row of await on.query(
    `SELECT status, count(*) AS total FROM ${on.dialect.schema}kb_jobs WHERE kind = 'ingest'
      ${narrowed ? `AND ${narrowed.sql}` : ''} GROUP BY status`,
    narrowed?.values,
  )) {
    Object.assign(counts, { [textOf(row, 'status')]: numberOf(row, 'total') });
  }
  return counts;
}

export async function leaseOwners(on: Statements): Promise<string[]> {
  const rows = await on.query(
    `SELECT DISTINCT lease_owner FROM ${on.dialect.schema}kb_jobs WHERE status = 'processing'`,
  );
  return rows.map((row) => textOf(row, 'lease_owner'));
}
