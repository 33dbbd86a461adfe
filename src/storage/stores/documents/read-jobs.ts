import type { JobCounts, JobListRequest, StoredJob, StoredJobPage } from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, textOf } from '../../rows.ts';
import { jobColumns, jobOf } from './document-rows.ts';

export async function getJob(on: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [row] = await on.query(`SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs WHERE key = ?`, [id]);
  return row === undefined ? undefined : jobOf(row);
}

export async function listJobs(on: Statements, { status, limit, offset }: JobListRequest): Promise<StoredJobPage> {
  const where = status === undefined ? '' : 'WHERE status = ?';
  const values = status === undefined ? [] : [status];
  const rows = await on.query(
    `SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs ${where} ORDER BY key DESC LIMIT ? OFFSET ?`,
    [...values, limit, offset],
  );
  const [count = {}] = await on.query(`SELECT count(*) AS total FROM ${on.dialect.schema}kb_jobs ${where}`, values);
  return { jobs: rows.map(jobOf), total: numberOf(count, 'total') };
}

export async function countJobs(on: Statements): Promise<JobCounts> {
  const counts = { queued: 0, processing: 0, done: 0, failed: 0, cancelled: 0 };
  for (const row of await on.query(
    `SELECT status, count(*) AS total FROM ${on.dialect.schema}kb_jobs WHERE kind = 'ingest' GROUP BY status`,
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
