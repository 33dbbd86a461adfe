import type {
  AcceptOutcome,
  AcceptRequest,
  ClaimedJob,
  ClaimRequest,
  FailRequest,
  ForgetRequest,
  PostponeRequest,
  ReadingBounds,
  RenewRequest,
  StoredJob,
} from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { type BoundValue, numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { lock } from '../idempotency.ts';
import { type ContentHolder, holdersOf, isWithin, substituteHash } from './content-holders.ts';
import { jobColumns, jobOf } from './document-rows.ts';

/** A job whose process died this often waits before each retry, so that it does not take everything down each time. */
const suspectCrashes = 5;
const suspectDelayMs = 10_000;

/** A job that the caller holds. */
const own = "key = ? AND status = 'processing' AND lease_owner = ?";

const free = 'lease_owner = NULL, lease_until = NULL';

export async function acceptJob(on: Statements, request: AcceptRequest): Promise<AcceptOutcome> {
  const { content } = request;
  const { hash, bytes } = 'staged' in content ? content.staged : content;
  await lock(on, `kb content ${hash}`);
  const holders = await holdersOf(on, hash);
  const visible = holders.filter((holder) => isWithin(holder.tags, request.anyTags));
  const short = 'staged' in content ? readTooShort(visible, request.bounds) : undefined;
  const known = knownContent(visible, short);
  if (known !== undefined) return known;
  const isFirst = holders.every(({ identity, document }) => identity !== hash || document === short);
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
  /** No other document or waiting job has this content; else one that the caller may not know of has it. */
  readonly isFirst: boolean;
  readonly bytes: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Of content that no document and no waiting job has, as far as the caller may know. */
export async function addIngestJob(on: Statements, job: NewIngestJob): Promise<StoredJob> {
  const [row = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}kb_jobs (kind, filename, title, doc_type, source_path, content_type, tags, note,
      content_hash, bytes_hash, bytes, status, phase, details, attempts, crashes, retries, run_after, created_at,
      updated_at)
      VALUES ('ingest', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', 'received', ?, 0, 0, 0, 0, ?, ?)
      RETURNING ${jobColumns}`,
    [
      storable(job.filename),
      optional(job.title),
      optional(job.docType),
      optional(job.sourcePath),
      storable(job.contentType),
      JSON.stringify(job.tags.map(storable)),
      optional(job.note),
      ...(job.isFirst ? [job.hash, null] : [substituteHash(), job.hash]),
      job.bytes,
      JSON.stringify(job.details),
      on.now,
      on.now,
    ],
  );
  return jobOf(row);
}

export async function claimJob(
  on: Statements,
  { owner, leaseMs, quickBytesMax }: ClaimRequest,
): Promise<ClaimedJob | undefined> {
  const key =
    quickBytesMax === undefined ? ((await abandonedJob(on)) ?? (await dueJob(on))) : await quickJob(on, quickBytesMax);
  if (key === undefined) return undefined;
  const [row = {}] = await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END,
      status = 'processing', attempts = attempts + 1, lease_owner = ?, lease_until = ${on.dialect.nowMs} + ?,
      phase = 'received', phase_done = NULL, phase_total = NULL, updated_at = ? WHERE key = ? RETURNING *`,
    [owner, leaseMs, on.now, key],
  );
  return claimedOf(row);
}

export async function renewJob(on: Statements, { id, owner, leaseMs, progress }: RenewRequest): Promise<boolean> {
  if (progress === undefined) {
    return changes(on, `UPDATE ${on.dialect.schema}kb_jobs SET lease_until = ${on.dialect.nowMs} + ? WHERE ${own}`, [
      leaseMs,
      id,
      owner,
    ]);
  }
  return changes(
    on,
    `UPDATE ${on.dialect.schema}kb_jobs SET lease_until = ${on.dialect.nowMs} + ?, phase = ?, phase_done = ?,
      phase_total = ?, updated_at = ? WHERE ${own}`,
    [leaseMs, progress.phase, progress.done ?? null, progress.total ?? null, on.now, id, owner],
  );
}

export async function failJob(on: Statements, { id, owner, code, message, progress }: FailRequest): Promise<boolean> {
  return changes(
    on,
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'failed', error = ?, error_code = ?, phase = ?, phase_done = ?,
      phase_total = ?, note = NULL, updated_at = ?, ${free} WHERE ${own}`,
    [
      storable(message),
      code,
      progress?.phase ?? 'received',
      progress?.done ?? null,
      progress?.total ?? null,
      on.now,
      id,
      owner,
    ],
  );
}

export async function postponeJob(on: Statements, { id, owner, delayMs, message }: PostponeRequest): Promise<boolean> {
  return changes(
    on,
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'queued', retries = retries + 1,
      run_after = ${on.dialect.nowMs} + ?, error = ?, updated_at = ?, ${free} WHERE ${own}`,
    [delayMs, storable(message), on.now, id, owner],
  );
}

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

export async function cancelJob(on: Statements, { id }: { id: number }): Promise<StoredJob | undefined> {
  const [cancelled] = await on.query(
    `UPDATE ${on.dialect.schema}kb_jobs SET status = 'cancelled', note = NULL, updated_at = ?, ${free}
      WHERE key = ? AND status IN ('queued', 'processing') RETURNING ${jobColumns}`,
    [on.now, id],
  );
  if (cancelled !== undefined) return jobOf(cancelled);
  const [row] = await on.query(`SELECT ${jobColumns} FROM ${on.dialect.schema}kb_jobs WHERE key = ?`, [id]);
  return row === undefined ? undefined : jobOf(row);
}

export async function forgetJobs(on: Statements, { before, keptMax, limit }: ForgetRequest): Promise<number> {
  const ended = "status IN ('done', 'failed', 'cancelled')";
  // Newer jobs have higher keys; where there are fewer than may be kept, there is no such key, and none is below it.
  const rows = await on.query(
    `DELETE FROM ${on.dialect.schema}kb_jobs WHERE key IN (SELECT key FROM ${on.dialect.schema}kb_jobs
      WHERE ${ended} AND (updated_at < ? OR key <= (SELECT key FROM ${on.dialect.schema}kb_jobs WHERE ${ended}
      ORDER BY key DESC LIMIT 1 OFFSET ?)) ORDER BY key LIMIT ?) RETURNING key`,
    [before, keptMax, limit],
  );
  return rows.length;
}

/** The document with this content, if a bound that has been raised since left something out of it. */
function readTooShort(holders: readonly ContentHolder[], now: ReadingBounds | undefined): number | undefined {
  const holder = holders.find(({ document }) => document !== undefined);
  if (now === undefined || holder?.document === undefined) return undefined;
  const { truncated, bounds } = holder.details as {
    truncated?: { reason?: string };
    bounds?: Partial<ReadingBounds>;
  };
  if (truncated === undefined) return undefined;
  const bound = truncated.reason === 'cpu_time' ? 'cpu_time' : 'characters';
  // Earlier versions did not record them.
  return now[bound] > (bounds?.[bound] ?? 0) ? holder.document : undefined;
}

/** What has the content already, of those that the caller may know of. */
export function knownContent(
  holders: readonly ContentHolder[],
  except: number | undefined,
): Exclude<AcceptOutcome, { outcome: 'accepted' }> | undefined {
  const known = holders.find(({ document }) => document !== undefined && document !== except);
  if (known?.document !== undefined) return { outcome: 'known_document', id: known.document, title: known.title ?? '' };
  const waiting = holders.find(({ job }) => job !== undefined);
  return waiting?.job === undefined ? undefined : { outcome: 'known_job', id: waiting.job, title: waiting.title };
}

async function abandonedJob(on: Statements): Promise<number | undefined> {
  const [row] = await on.query(
    `SELECT key FROM ${on.dialect.schema}kb_jobs WHERE status = 'processing' AND lease_until < ${on.dialect.nowMs}
      ORDER BY key LIMIT 1 ${on.dialect.skipLocked}`,
  );
  return row === undefined ? undefined : numberOf(row, 'key');
}

async function dueJob(on: Statements): Promise<number | undefined> {
  const [row] = await on.query(`SELECT key FROM ${on.dialect.schema}kb_jobs WHERE status = 'queued'
    AND run_after <= ${on.dialect.nowMs} ORDER BY crashes, key LIMIT 1 ${on.dialect.skipLocked}`);
  return row === undefined ? undefined : numberOf(row, 'key');
}

async function quickJob(on: Statements, bytesMax: number): Promise<number | undefined> {
  const [row] = await on.query(
    `SELECT key FROM ${on.dialect.schema}kb_jobs WHERE status = 'queued' AND run_after <= ${on.dialect.nowMs}
      AND crashes = 0 AND attempts = 0 AND bytes <= ?
      ORDER BY CASE WHEN note IS NOT NULL OR content_type LIKE 'text/%' THEN 0 ELSE 1 END, key
      LIMIT 1 ${on.dialect.skipLocked}`,
    [bytesMax],
  );
  return row === undefined ? undefined : numberOf(row, 'key');
}

/** Whether the statement has found its row. */
async function changes(on: Statements, sql: string, values: readonly BoundValue[]): Promise<boolean> {
  return (await on.query(`${sql} RETURNING key`, values)).length > 0;
}

function claimedOf(row: Row): ClaimedJob {
  return {
    id: numberOf(row, 'key'),
    filename: textOf(row, 'filename'),
    title: optionalTextOf(row, 'title'),
    docType: optionalTextOf(row, 'doc_type'),
    contentType: textOf(row, 'content_type'),
    contentHash: optionalTextOf(row, 'bytes_hash') ?? textOf(row, 'content_hash'),
    note: optionalTextOf(row, 'note'),
    crashes: numberOf(row, 'crashes'),
    retries: numberOf(row, 'retries'),
  };
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}
