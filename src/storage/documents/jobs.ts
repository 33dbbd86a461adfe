import type { Statements } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import {
  assignmentOf,
  type BoundValue,
  type Condition,
  numberOf,
  optionalTextOf,
  type Row,
  type SqlValue,
  textOf,
  valuesOf,
} from '../rows.ts';
import { storable } from '../storable.ts';
import { type ContentHolder, holdersOf, isVisible, substituteHash } from './contents.ts';
import type { StoredDocument } from './document.ts';
import { jobColumns, jobOf } from './document-rows.ts';
import type {
  AcceptOutcome,
  AcceptRequest,
  ClaimedJob,
  ClaimRequest,
  FailRequest,
  ForgetRequest,
  JobCounts,
  JobKind,
  JobListRequest,
  PhaseProgress,
  PostponeRequest,
  ReadingBounds,
  RenewRequest,
  Scope,
  StoredJob,
  StoredJobPage,
} from './ingestion.ts';

export async function getJob(on: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [row] = await on.query(`SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs WHERE key = ?`, [id]);
  return row === undefined ? undefined : jobOf(row);
}

/** Newest first. */
export async function listJobs(
  on: Statements,
  { status, anyTags, limit, offset }: JobListRequest,
): Promise<StoredJobPage> {
  const narrowed = withAnyTag(on, anyTags);
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

/** Condition on rows whose list `tags` has at least one of these tags. */
export function withAnyTag({ dialect }: Statements, tags: readonly string[] | undefined): Condition | undefined {
  if (tags === undefined) return undefined;
  return {
    sql: `EXISTS (SELECT 1 FROM ${dialect.elements('tags')} WHERE element.value IN (${dialect.texts}))`,
    values: [{ list: tags.map(storable) }],
  };
}

/** Submitted files and notes; recorded changes are not counted. */
export async function countJobs(on: Statements, { anyTags }: Scope): Promise<JobCounts> {
  const narrowed = withAnyTag(on, anyTags);
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

/** Current lease holders. */
export async function leaseOwners(on: Statements): Promise<string[]> {
  const rows = await on.query(
    `SELECT DISTINCT lease_owner FROM ${on.dialect.schema}kb_jobs WHERE status = 'processing'`,
  );
  return rows.map((row) => textOf(row, 'lease_owner'));
}

/** A job whose process died this often waits before each retry, so that it does not keep crashing processes. */
const suspectCrashes = 5;
const suspectDelayMs = 10_000;

/** A job that the caller holds. */
const own = "key = ? AND status = 'processing' AND lease_owner = ?";

const free = 'lease_owner = NULL, lease_until = NULL';

/** Bytes and job are on disk when the promise resolves. Known bytes create no second job. */
export async function acceptJob(on: Statements, request: AcceptRequest): Promise<AcceptOutcome> {
  const { content } = request;
  const { hash, bytes } = 'staged' in content ? content.staged : content;
  await lock(on, `kb content ${hash}`);
  const holders = await holdersOf(on, hash);
  const visible = holders.filter((holder) => isVisible(holder.tags, request.anyTags));
  const short = 'staged' in content ? readTooShort(visible, request.bounds) : undefined;
  const known = knownContent(visible, short);
  if (known !== undefined) return known;
  const isReplaced = ({ document }: ContentHolder): boolean => document !== undefined && document === short;
  const isFirst = holders.every((holder) => holder.identity !== hash || isReplaced(holder));
  const replaces = short ?? request.replaces;
  if ('staged' in content) await on.dialect.originals.adopt(on, content.staged);
  const note = 'note' in content ? content.note : undefined;
  const details = replaces === undefined ? {} : { replaces };
  return { outcome: 'accepted', job: await addIngestJob(on, { ...request, note, hash, isFirst, bytes, details }) };
}

interface NewIngestJob extends Pick<AcceptRequest, 'filename' | 'title' | 'docType' | 'sourcePath' | 'contentType'> {
  readonly tags: readonly string[];
  readonly note: string | undefined;
  readonly hash: string;
  /** True if no document or waiting job has this content. False if one has it that the caller may not see. */
  readonly isFirst: boolean;
  readonly bytes: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly submitter?: string | undefined;
}

/** For content that no document or waiting job visible to the caller has. */
export async function addIngestJob(on: Statements, job: NewIngestJob): Promise<StoredJob> {
  const row = await insertJob(on, {
    kind: 'ingest',
    status: 'queued',
    phase: 'received',
    filename: storable(job.filename),
    title: optional(job.title),
    doc_type: optional(job.docType),
    source_path: optional(job.sourcePath),
    content_type: storable(job.contentType),
    tags: JSON.stringify(job.tags.map(storable)),
    note: optional(job.note),
    content_hash: job.isFirst ? job.hash : substituteHash(),
    bytes_hash: job.isFirst ? null : job.hash,
    bytes: job.bytes,
    details: JSON.stringify(job.details),
    submitter: optional(job.submitter),
  });
  return jobOf(row);
}

const submitter = "coalesce(submitter, '')";

/** The next due job, round-robin by submitter, or one whose lease has expired. Those with the fewest attempts come first. */
export async function claimJob(
  on: Statements,
  { owner, leaseMs, quickBytesMax, afterSubmitter = '' }: ClaimRequest,
): Promise<ClaimedJob | undefined> {
  const { nowMs } = on.dialect;
  const isDue = `kind = 'ingest' AND status = 'queued' AND run_after <= ${nowMs}`;
  const key =
    quickBytesMax === undefined
      ? ((await firstJob(on, `kind = 'ingest' AND status = 'processing' AND lease_until < ${nowMs} ORDER BY key`)) ??
        (await firstJob(on, `${isDue} AND crashes = 0 AND ${submitter} > ? ORDER BY ${submitter}, key`, [
          afterSubmitter,
        ])) ??
        (await firstJob(on, `${isDue} AND crashes = 0 ORDER BY ${submitter}, key`)) ??
        (await firstJob(on, `${isDue} ORDER BY crashes, key`)))
      : await firstJob(
          on,
          `${isDue} AND crashes = 0 AND attempts = 0 AND bytes <= ?
           ORDER BY CASE WHEN note IS NOT NULL OR content_type LIKE 'text/%' THEN 0 ELSE 1 END,
             CASE WHEN ${submitter} > ? THEN 0 ELSE 1 END, ${submitter}, key`,
          [quickBytesMax, afterSubmitter],
        );
  if (key === undefined) return undefined;
  const [row = {}] = await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END,
      status = 'processing', attempts = attempts + 1, lease_owner = ?, lease_until = ${on.dialect.nowMs} + ?,
      phase = 'received', phase_done = NULL, phase_total = NULL, updated_at = ? WHERE key = ? RETURNING *`,
    [owner, leaseMs, on.now, key],
  );
  return claimedOf(row);
}

/** False: the job no longer belongs to the caller, which must stop. */
export async function renewJob(on: Statements, { id, owner, leaseMs, progress }: RenewRequest): Promise<boolean> {
  const shown = progress && assignmentOf({ ...progressColumns(progress), updated_at: on.now });
  return changes(
    on,
    `UPDATE ${on.dialect.schema}kb_jobs SET lease_until = ${on.dialect.nowMs} + ?${shown ? `, ${shown.sql}` : ''} WHERE ${own}`,
    [leaseMs, ...(shown?.values ?? []), id, owner],
  );
}

function progressColumns({ phase, done, total }: PhaseProgress) {
  return { phase, phase_done: done ?? null, phase_total: total ?? null };
}

export async function failJob(on: Statements, { id, owner, code, message, progress }: FailRequest): Promise<boolean> {
  const { sql, values } = assignmentOf({
    ...{ status: 'failed', error: storable(message), error_code: code, note: null, updated_at: on.now },
    ...progressColumns(progress ?? { phase: 'received' }),
  });
  return changes(on, `UPDATE ${on.dialect.schema}kb_jobs SET ${sql}, ${free} WHERE ${own}`, [...values, id, owner]);
}

/** Requeues the job, not to be claimed before the delay is over. */
export async function postponeJob(on: Statements, { id, owner, delayMs, message }: PostponeRequest): Promise<boolean> {
  return changes(
    on,
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'queued', retries = retries + 1,
      run_after = ${on.dialect.nowMs} + ?, error = ?, updated_at = ?, ${free} WHERE ${own}`,
    [delayMs, storable(message), on.now, id, owner],
  );
}

/** Requeues all jobs of these holders as if they had not been started. Returns their number. */
export async function giveBackJobs(
  on: Statements,
  { owners, crashed }: { owners: readonly string[]; crashed: boolean },
): Promise<number> {
  const rows = await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'queued', crashes = crashes + ?, attempts = attempts - ?,
      run_after = CASE WHEN crashes + ? > ? THEN ${on.dialect.nowMs} + ? ELSE 0 END, updated_at = ?, ${free}
      WHERE status = 'processing' AND lease_owner IN (${on.dialect.texts}) RETURNING key`,
    [crashed ? 1 : 0, crashed ? 0 : 1, crashed ? 1 : 0, suspectCrashes, suspectDelayMs, on.now, { list: owners }],
  );
  return rows.length;
}

/** Takes effect at once, even on a running job. A finished job does not change. */
export async function cancelJob(on: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [cancelled] = await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'cancelled', note = NULL, updated_at = ?, ${free}
      WHERE key = ? AND status IN ('queued', 'processing') RETURNING ${jobColumns}`,
    [on.now, id],
  );
  if (cancelled !== undefined) return jobOf(cancelled);
  return getJob(on, { id });
}

/** Removes finished jobs: those older than `before`, and all but the newest `keptMax` of the rest. */
export async function forgetJobs(on: Statements, { before, keptMax, limit }: ForgetRequest): Promise<number> {
  const ended = "status IN ('done', 'failed', 'cancelled')";
  // Newer jobs have higher keys. With at most `keptMax` finished jobs, the innermost SELECT is null and matches nothing.
  const rows = await on.query(
    `DELETE FROM ${on.dialect.schema}kb_jobs WHERE key IN (SELECT key FROM ${on.dialect.schema}kb_jobs
      WHERE ${ended} AND (updated_at < ? OR key <= (SELECT key FROM ${on.dialect.schema}kb_jobs WHERE ${ended}
      ORDER BY key DESC LIMIT 1 OFFSET ?)) ORDER BY key LIMIT ?) RETURNING key`,
    [before, keptMax, limit],
  );
  return rows.length;
}

/** Removes finished uploads from the list; the record of changes stays. Returns how many. */
export async function clearJobs(on: Statements, { anyTags }: Scope): Promise<number> {
  const narrowed = withAnyTag(on, anyTags);
  const rows = await on.query(
    `DELETE FROM ${on.dialect.schema}kb_jobs WHERE kind = 'ingest' AND status IN ('done', 'failed', 'cancelled')
      ${narrowed ? `AND ${narrowed.sql}` : ''} RETURNING key`,
    narrowed?.values,
  );
  return rows.length;
}

/** The document with this content, if it was truncated by a limit that has been raised since. */
function readTooShort(holders: readonly ContentHolder[], now: ReadingBounds | undefined): number | undefined {
  const holder = holders.find(({ document }) => document !== undefined);
  if (now === undefined || holder?.document === undefined) return undefined;
  const { truncated, bounds } = holder.details as {
    truncated?: { reason?: string };
    bounds?: Partial<ReadingBounds>;
  };
  if (truncated === undefined) return undefined;
  const bound = truncated.reason === 'cpu_time' ? 'cpu_time' : 'characters';
  // Earlier versions did not record the bounds.
  return now[bound] > (bounds?.[bound] ?? 0) ? holder.document : undefined;
}

/** The holder of the content, if the caller may see it. */
export function knownContent(
  holders: readonly ContentHolder[],
  except: number | undefined,
): Exclude<AcceptOutcome, { outcome: 'accepted' }> | undefined {
  const known = holders.find(({ document }) => document !== undefined && document !== except);
  if (known?.document !== undefined) return { outcome: 'known_document', id: known.document, title: known.title ?? '' };
  const waiting = holders.find(({ job }) => job !== undefined);
  return waiting?.job === undefined ? undefined : { outcome: 'known_job', id: waiting.job, title: waiting.title };
}

/** The first job that matches. `condition` includes ORDER BY. Skips jobs that another process is claiming. */
async function firstJob(
  { query, dialect: { schema, skipLocked } }: Statements,
  condition: string,
  values: readonly BoundValue[] = [],
): Promise<number | undefined> {
  const [row] = await query(`SELECT key FROM ${schema}kb_jobs WHERE ${condition} LIMIT 1 ${skipLocked}`, values);
  return row && numberOf(row, 'key');
}

/** True if the statement found its row. */
async function changes(on: Statements, sql: string, values: readonly BoundValue[]): Promise<boolean> {
  return (await on.query(`${sql} RETURNING key`, values)).length > 0;
}

function claimedOf(row: Row): ClaimedJob {
  return {
    id: numberOf(row, 'key'),
    filename: textOf(row, 'filename'),
    title: optionalTextOf(row, 'title'),
    docType: optionalTextOf(row, 'doc_type'),
    sourcePath: optionalTextOf(row, 'source_path'),
    contentType: textOf(row, 'content_type'),
    contentHash: optionalTextOf(row, 'bytes_hash') ?? textOf(row, 'content_hash'),
    note: optionalTextOf(row, 'note'),
    crashes: numberOf(row, 'crashes'),
    retries: numberOf(row, 'retries'),
    submitter: optionalTextOf(row, 'submitter') ?? '',
  };
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}

export interface AuditEntry {
  readonly kind: Exclude<JobKind, 'ingest' | 'crawl'>;
  /** The previous state, if one document was changed. */
  readonly document?: StoredDocument;
  readonly tags?: readonly string[];
  readonly chunkCount?: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Records a change as a finished job, in the transaction that made it. Returns the job's id. */
export async function recordChange(
  on: Statements,
  { kind, document, tags = document?.tags ?? [], chunkCount, details }: AuditEntry,
): Promise<number> {
  const row = await insertJob(on, {
    ...{ kind, status: 'done', phase: 'indexing' },
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
  return numberOf(row, 'key');
}

/** A new job, or the record of a change. */
export async function insertJob(on: Statements, job: Readonly<Record<string, SqlValue>>): Promise<Row> {
  const { columns, places, values } = valuesOf({
    ...job,
    ...{ attempts: 0, crashes: 0, retries: 0, run_after: 0, created_at: on.now, updated_at: on.now },
  });
  const sql = `INSERT INTO ${on.dialect.schema}kb_jobs (${columns}) VALUES (${places}) RETURNING ${jobColumns}`;
  const [row = {}] = await on.query(sql, values);
  return row;
}
