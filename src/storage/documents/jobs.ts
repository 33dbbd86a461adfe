import type { Statements } from '../dialect.ts';
import { columnsOf, field, numberOf, type RecordOf, type Row, recordOf, type SqlValue, textOf } from '../rows.ts';
import { allOf, insertRow, readPage } from '../statements.ts';
import type { StoredDocument } from './document.ts';
import { type Scope, visibleRows } from './selection.ts';

export type JobStatus = 'queued' | 'processing' | 'done' | 'failed' | 'cancelled';
type ChangeKind = 'delete' | 'tags' | 'note' | 'move' | 'bulk_delete' | 'bulk_tags' | 'bulk_set_tags';
type JobPhase = 'received' | 'crawling' | 'extracting' | 'chunking' | 'embedding' | 'indexing';

/** The fields of a job, without the text of a waiting note, which may be long. */
const jobFields = {
  id: field.number('key'),
  kind: field.text<'ingest' | 'crawl' | ChangeKind>('kind'),
  filename: field.optionalText('filename'),
  title: field.optionalText('title'),
  docType: field.optionalText('doc_type'),
  sourcePath: field.optionalText('source_path'),
  tags: field.json<readonly string[]>('tags'),
  status: field.text<JobStatus>('status'),
  error: field.optionalText('error'),
  errorCode: field.optionalText('error_code'),
  documentId: field.optionalNumber('document_id'),
  chunkCount: field.optionalNumber('chunk_count'),
  contentHash: field.optionalText('content_hash'),
  attempts: field.number('attempts'),
  details: field.json<Readonly<Record<string, unknown>>>('details'),
  createdAt: field.text('created_at'),
  updatedAt: field.text('updated_at'),
};

const progressFields = {
  phase: field.text<JobPhase>('phase'),
  done: field.optionalNumber('phase_done'),
  total: field.optionalNumber('phase_total'),
};

export type PhaseProgress = Pick<RecordOf<typeof progressFields>, 'phase'> & Partial<RecordOf<typeof progressFields>>;

export interface StoredJob extends RecordOf<typeof jobFields> {
  readonly progress: PhaseProgress;
}

export const jobColumns = columnsOf({ ...jobFields, ...progressFields });

export function jobOf(row: Row): StoredJob {
  return { ...recordOf(jobFields, row), progress: recordOf(progressFields, row) };
}

export async function getJob(db: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [row] = await db.query(`SELECT ${jobColumns} FROM kb_jobs WHERE key = ?`, [id]);
  return row && jobOf(row);
}

export interface JobListRequest extends Scope {
  readonly status?: JobStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Lists jobs, newest first. */
export async function listJobs(
  db: Statements,
  { status, limit, offset, ...scope }: JobListRequest,
): Promise<{ jobs: StoredJob[]; total: number }> {
  const { sql, values } = allOf([
    ...(status === undefined ? [] : [{ sql: 'status = ?', values: [status] }]),
    ...visibleRows(scope, db.dialect),
  ]);
  const from = { sql: `kb_jobs WHERE ${sql}`, values };
  const { rows, total } = await readPage(db, jobColumns, from, 'key DESC', { limit, offset });
  return { jobs: rows.map(jobOf), total };
}

/** Counts submitted files and notes by status, without recorded changes. */
export async function countJobs(db: Statements, scope: Scope): Promise<Record<JobStatus, number>> {
  const { sql, values } = allOf([{ sql: "kind = 'ingest'", values: [] }, ...visibleRows(scope, db.dialect)]);
  const rows = await db.query(`SELECT status, count(*) AS total FROM kb_jobs WHERE ${sql} GROUP BY status`, values);
  const counts = rows.map((row) => [textOf(row, 'status'), numberOf(row, 'total')]);
  return { queued: 0, processing: 0, done: 0, failed: 0, cancelled: 0, ...Object.fromEntries(counts) };
}

const hasEnded = "status IN ('done', 'failed', 'cancelled')";

export interface ForgetRequest {
  /** ISO 8601. Removes jobs that ended before this time. */
  readonly before: string;
  readonly keptMax: number;
  /** Max jobs removed per call, because other writes wait meanwhile. */
  readonly limit: number;
}

/** Removes ended jobs: those older than `before`, and all but the newest `keptMax`. Returns the number of removed jobs. */
export async function forgetJobs(db: Statements, { before, keptMax, limit }: ForgetRequest): Promise<number> {
  // With at most `keptMax` ended jobs, the innermost SELECT is null, and the comparison with it matches nothing.
  const rows = await db.query(
    `DELETE FROM kb_jobs WHERE key IN (SELECT key FROM kb_jobs
      WHERE ${hasEnded} AND (updated_at < ? OR key <= (SELECT key FROM kb_jobs WHERE ${hasEnded}
      ORDER BY key DESC LIMIT 1 OFFSET ?)) ORDER BY key LIMIT ?) RETURNING key`,
    [before, keptMax, limit],
  );
  return rows.length;
}

/** Removes ended jobs of submitted files and notes, but no recorded changes. Returns their number. */
export async function clearJobs(db: Statements, scope: Scope): Promise<number> {
  const { sql, values } = allOf([
    { sql: `kind = 'ingest' AND ${hasEnded}`, values: [] },
    ...visibleRows(scope, db.dialect),
  ]);
  const rows = await db.query(`DELETE FROM kb_jobs WHERE ${sql} RETURNING key`, values);
  return rows.length;
}

interface DocumentChange {
  readonly kind: ChangeKind;
  /** The document before the change, if only one was changed. */
  readonly document?: StoredDocument;
  readonly tags?: readonly string[];
  readonly chunkCount?: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Records a change as a finished job, in the transaction that made it. Returns the job's id. */
export async function recordChange(
  db: Statements,
  { kind, document, tags = document?.tags ?? [], chunkCount, details }: DocumentChange,
): Promise<number> {
  const job = await insertJob(db, {
    kind,
    status: 'done',
    phase: 'indexing',
    filename: document?.filename ?? null,
    title: document?.title ?? null,
    doc_type: document?.docType ?? null,
    source_path: document?.sourcePath ?? null,
    content_hash: document?.contentHash ?? null,
    document_id: document?.id ?? null,
    tags: JSON.stringify(tags),
    details: JSON.stringify(details),
    chunk_count: chunkCount ?? null,
  });
  return job.id;
}

/** Inserts a new job, or the record of a change. */
export async function insertJob(db: Statements, job: Readonly<Record<string, SqlValue>>): Promise<StoredJob> {
  const defaults = { attempts: 0, crashes: 0, retries: 0, run_after: 0, created_at: db.now, updated_at: db.now };
  return jobOf(await insertRow(db, 'kb_jobs', { ...job, ...defaults }, { returning: jobColumns }));
}
