import type { StagedOriginal, Statements } from '../dialect.ts';
import { lock } from '../idempotency.ts';
import { numberOf, optionalTextOf, textOf } from '../rows.ts';
import { isUnfinished } from '../schema/document-tables.ts';
import { storable, storableOrNull } from '../storable.ts';
import { tagsOf } from './document.ts';
import { insertJob, type StoredJob } from './jobs.ts';
import { isVisible, type Scope } from './selection.ts';

interface NewJob {
  readonly filename: string;
  readonly title: string | undefined;
  readonly docType: string | undefined;
  readonly sourcePath: string | undefined;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** The caller who submitted the file. `claimJob` alternates between submitters. */
  readonly submitter?: string | undefined;
}

export interface AcceptRequest extends NewJob, Scope {
  /** The document whose text, hash and path this content replaces. If it was deleted, a new one is created. */
  readonly replaces?: number | undefined;
  /** The current read limits. Stored bytes are read again if a lower limit truncated their text. */
  readonly bounds?: ReadingBounds | undefined;
  readonly content:
    | { readonly staged: StagedOriginal }
    | { readonly note: string; readonly hash: string; readonly bytes: number };
}

/** Read limits per file. The details of a truncated document include the limits that applied. */
export interface ReadingBounds {
  readonly characters: number;
  /** In milliseconds. */
  readonly cpu_time: number;
}

export type AcceptOutcome =
  | { readonly outcome: 'accepted'; readonly job: StoredJob }
  | { readonly outcome: 'known_document'; readonly id: number; readonly title: string }
  | { readonly outcome: 'known_job'; readonly id: number; readonly title: string | undefined };

/**
 * Stores the bytes and adds a job. Both are on disk when the promise resolves. Adds no job if a document or job that the caller
 * may see already has this content.
 */
export async function acceptJob(db: Statements, request: AcceptRequest): Promise<AcceptOutcome> {
  const { content } = request;
  const { hash, bytes } = 'staged' in content ? content.staged : content;
  await lock(db, `kb content ${hash}`);
  const holders = await contentHolders(db, hash);
  const visible = holders.filter(({ tags }) => isVisible(tags, request));
  const truncated = 'staged' in content ? truncatedDocument(visible, request.bounds) : undefined;
  const existing = existingContent(visible, truncated);
  if (existing !== undefined) return existing;
  const isCopy = holders.some((holder) => !holder.isCopy && (truncated === undefined || holder.document !== truncated));
  const replaces = truncated ?? request.replaces;
  if ('staged' in content) await db.dialect.originals.adopt(db, content.staged);
  const note = 'note' in content ? content.note : undefined;
  const details = replaces === undefined ? {} : { replaces };
  return { outcome: 'accepted', job: await addIngestJob(db, { ...request, note, hash, isCopy, bytes, details }) };
}

interface NewIngestJob extends NewJob, Pick<ContentHolder, 'isCopy' | 'details'> {
  readonly note: string | undefined;
  readonly hash: string;
  readonly bytes: number;
}

/** Adds a job. Call `existingContent` first, to avoid duplicates. */
export async function addIngestJob(db: Statements, job: NewIngestJob): Promise<StoredJob> {
  return insertJob(db, {
    kind: 'ingest',
    status: 'queued',
    phase: 'received',
    filename: storable(job.filename),
    title: storableOrNull(job.title),
    doc_type: storableOrNull(job.docType),
    source_path: storableOrNull(job.sourcePath),
    content_type: storable(job.contentType),
    tags: JSON.stringify(job.tags.map(storable)),
    note: storableOrNull(job.note),
    content_hash: job.hash,
    is_copy: job.isCopy ? 1 : null,
    bytes: job.bytes,
    submitter: job.submitter ?? '',
    details: JSON.stringify(job.details),
  });
}

/** Returns the document with this content if a read limit truncated its text and that limit is higher now. */
function truncatedDocument(holders: readonly ContentHolder[], current: ReadingBounds | undefined): number | undefined {
  const holder = holders.find(({ document }) => document !== undefined);
  if (current === undefined || holder === undefined) return undefined;
  const { truncated, bounds } = holder.details as {
    truncated?: { reason?: string };
    bounds?: ReadingBounds;
  };
  if (truncated === undefined) return undefined;
  const bound = truncated.reason === 'cpu_time' ? 'cpu_time' : 'characters';
  return current[bound] > (bounds?.[bound] ?? 0) ? holder.document : undefined;
}

/** Returns the document or unfinished job that already has the content. The caller must be allowed to see all holders. */
export function existingContent(
  holders: readonly ContentHolder[],
  except?: number,
): Exclude<AcceptOutcome, { outcome: 'accepted' }> | undefined {
  const stored = holders.find(({ document }) => document !== undefined && document !== except);
  if (stored?.document !== undefined) {
    return { outcome: 'known_document', id: stored.document, title: stored.title ?? '' };
  }
  const queued = holders.find(({ job }) => job !== undefined);
  return queued?.job === undefined ? undefined : { outcome: 'known_job', id: queued.job, title: queued.title };
}

/** A document or unfinished job that has a certain content. */
export interface ContentHolder {
  readonly document?: number;
  readonly job?: number;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /** True if its submitter could not see that the content was already stored. At most one holder of a content is not a copy. */
  readonly isCopy: boolean;
}

export async function contentHolders(db: Statements, hash: string): Promise<ContentHolder[]> {
  const documents = await db.query(
    'SELECT key, title, details, is_copy FROM kb_documents WHERE content_hash = ? ORDER BY key',
    [hash],
  );
  const tags = await tagsOf(
    db,
    documents.map((row) => numberOf(row, 'key')),
  );
  const jobs = await db.query(
    `SELECT key, title, filename, tags, is_copy FROM kb_jobs WHERE content_hash = ? AND ${isUnfinished} ORDER BY key`,
    [hash],
  );
  return [
    ...documents.map((row) => ({
      document: numberOf(row, 'key'),
      title: textOf(row, 'title'),
      tags: tags.get(numberOf(row, 'key')) ?? [],
      details: JSON.parse(textOf(row, 'details')),
      isCopy: row['is_copy'] !== null,
    })),
    ...jobs.map((row) => ({
      job: numberOf(row, 'key'),
      title: optionalTextOf(row, 'title') ?? optionalTextOf(row, 'filename'),
      tags: JSON.parse(textOf(row, 'tags')),
      details: {},
      isCopy: row['is_copy'] !== null,
    })),
  ];
}
