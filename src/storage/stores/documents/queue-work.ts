import type {
  AcceptOutcome,
  AcceptRequest,
  ClaimedJob,
  ClaimRequest,
  FailRequest,
  ForgetRequest,
  PostponeRequest,
  RenewRequest,
  StoredJob,
} from '../../contracts/ingestion.ts';
import { storable } from '../../contracts/notes.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../statements.ts';
import { lock } from '../entries/idempotency.ts';
import { query } from '../entries/work.ts';
import { jobColumns, jobOf } from './document-rows.ts';
import { type DocumentDialect, type DocumentWork, tablesOf } from './document-work.ts';

export interface QueueWork {
  accept(request: AcceptRequest, now: string): DocumentWork<AcceptOutcome>;
  claim(request: ClaimRequest, now: string): DocumentWork<ClaimedJob | undefined>;
  renew(request: RenewRequest, now: string): DocumentWork<boolean>;
  fail(request: FailRequest, now: string): DocumentWork<boolean>;
  postpone(request: PostponeRequest, now: string): DocumentWork<boolean>;
  giveBack(request: { owners: readonly string[]; crashed: boolean }, now: string): DocumentWork<number>;
  cancel(request: { id: number }, now: string): DocumentWork<StoredJob | undefined>;
  forget(request: ForgetRequest, now: string): DocumentWork<number>;
}

/** A job whose process died so often waits before it is tried again, lest it take everything down with it each time. */
const suspectCrashes = 5;
const suspectDelayMs = 10_000;

export function createQueueWork(dialect: DocumentDialect): QueueWork {
  const { jobs, documents } = tablesOf(dialect);
  const { nowMs } = dialect;
  const own = "key = ? AND status = 'processing' AND lease_owner = ?";
  const free = 'lease_owner = NULL, lease_until = NULL';

  return {
    *accept(request, now) {
      const { content } = request;
      const { hash, bytes } = 'staged' in content ? content.staged : content;
      yield* lock(`kb content ${hash}`, dialect);
      const known = yield* knownContent(hash);
      if (known !== undefined) return known;
      if ('staged' in content) yield (engine) => engine.adoptOriginal(content.staged);
      const [row = {}] = yield* query(
        `INSERT INTO ${jobs} (kind, filename, title, doc_type, source_path, content_type, tags, note, content_hash, bytes,
           status, phase, details, attempts, crashes, retries, run_after, created_at, updated_at)
         VALUES ('ingest', ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', 'received', '{}', 0, 0, 0, 0, ?, ?) RETURNING ${jobColumns}`,
        ...[
          storable(request.filename),
          optional(request.title),
          optional(request.docType),
          optional(request.sourcePath),
        ],
        ...[storable(request.contentType), JSON.stringify(request.tags.map(storable))],
        ...['note' in content ? storable(content.note) : null, hash, bytes, now, now],
      );
      return { outcome: 'accepted', job: jobOf(row) };
    },
    *claim({ owner, leaseMs }, now) {
      const key = (yield* abandonedJob()) ?? (yield* dueJob());
      if (key === undefined) return undefined;
      const [row = {}] = yield* query(
        `UPDATE ${jobs} SET crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END, status = 'processing',
           attempts = attempts + 1, lease_owner = ?, lease_until = ${nowMs} + ?, phase = 'received', phase_done = NULL,
           phase_total = NULL, updated_at = ? WHERE key = ? RETURNING *`,
        ...[owner, leaseMs, now, key],
      );
      return claimedOf(row);
    },
    *renew({ id, owner, leaseMs, progress }, now) {
      if (progress === undefined) {
        return yield* changes(`UPDATE ${jobs} SET lease_until = ${nowMs} + ? WHERE ${own}`, leaseMs, id, owner);
      }
      return yield* changes(
        `UPDATE ${jobs} SET lease_until = ${nowMs} + ?, phase = ?, phase_done = ?, phase_total = ?, updated_at = ? WHERE ${own}`,
        ...[leaseMs, progress.phase, progress.done ?? null, progress.total ?? null, now, id, owner],
      );
    },
    *fail({ id, owner, code, message, progress }, now) {
      return yield* changes(
        `UPDATE ${jobs} SET status = 'failed', error = ?, error_code = ?, phase = ?, phase_done = ?, phase_total = ?,
           note = NULL, updated_at = ?, ${free} WHERE ${own}`,
        ...[storable(message), code, progress?.phase ?? 'received', progress?.done ?? null, progress?.total ?? null],
        ...[now, id, owner],
      );
    },
    *postpone({ id, owner, delayMs, message }, now) {
      return yield* changes(
        `UPDATE ${jobs} SET status = 'queued', retries = retries + 1, run_after = ${nowMs} + ?, error = ?, updated_at = ?,
           ${free} WHERE ${own}`,
        ...[delayMs, storable(message), now, id, owner],
      );
    },
    *giveBack({ owners, crashed }, now) {
      const rows = yield* query(
        `UPDATE ${jobs} SET status = 'queued', crashes = crashes + ?, attempts = attempts - ?,
           run_after = CASE WHEN crashes + ? > ? THEN ${nowMs} + ? ELSE 0 END, updated_at = ?, ${free}
         WHERE status = 'processing' AND lease_owner IN (${dialect.texts}) RETURNING key`,
        ...[crashed ? 1 : 0, crashed ? 0 : 1, crashed ? 1 : 0, suspectCrashes, suspectDelayMs, now, { list: owners }],
      );
      return rows.length;
    },
    *cancel({ id }, now) {
      const [cancelled] = yield* query(
        `UPDATE ${jobs} SET status = 'cancelled', note = NULL, updated_at = ?, ${free}
         WHERE key = ? AND status IN ('queued', 'processing') RETURNING ${jobColumns}`,
        ...[now, id],
      );
      if (cancelled !== undefined) return jobOf(cancelled);
      const [row] = yield* query(`SELECT ${jobColumns} FROM ${jobs} WHERE key = ?`, id);
      return row === undefined ? undefined : jobOf(row);
    },
    *forget({ before, keptMax, limit }) {
      const ended = "status IN ('done', 'failed', 'cancelled')";
      // Newer jobs have higher keys; where there are fewer than may be kept, there is no such key, and none is below it.
      const rows = yield* query(
        `DELETE FROM ${jobs} WHERE key IN (SELECT key FROM ${jobs} WHERE ${ended} AND (updated_at < ? OR key <=
           (SELECT key FROM ${jobs} WHERE ${ended} ORDER BY key DESC LIMIT 1 OFFSET ?)) ORDER BY key LIMIT ?) RETURNING key`,
        ...[before, keptMax, limit],
      );
      return rows.length;
    },
  };

  function* knownContent(hash: string): DocumentWork<AcceptOutcome | undefined> {
    const [document] = yield* query(`SELECT key, title FROM ${documents} WHERE content_hash = ?`, hash);
    if (document !== undefined) {
      return { outcome: 'known_document', id: numberOf(document, 'key'), title: textOf(document, 'title') };
    }
    const [job] = yield* query(
      `SELECT key, title, filename FROM ${jobs} WHERE content_hash = ? AND kind = 'ingest' AND status IN ('queued', 'processing')`,
      hash,
    );
    if (job === undefined) return undefined;
    const title = optionalTextOf(job, 'title') ?? optionalTextOf(job, 'filename');
    return { outcome: 'known_job', id: numberOf(job, 'key'), title };
  }

  function* abandonedJob(): DocumentWork<number | undefined> {
    const [row] = yield* query(
      `SELECT key FROM ${jobs} WHERE status = 'processing' AND lease_until < ${nowMs} ORDER BY key LIMIT 1 ${dialect.skipLocked}`,
    );
    return row === undefined ? undefined : numberOf(row, 'key');
  }

  function* dueJob(): DocumentWork<number | undefined> {
    const [row] = yield* query(
      `SELECT key FROM ${jobs} WHERE status = 'queued' AND run_after <= ${nowMs} ORDER BY crashes, key LIMIT 1
       ${dialect.skipLocked}`,
    );
    return row === undefined ? undefined : numberOf(row, 'key');
  }
}

/** Whether the statement has found its row. */
export function* changes(sql: string, ...values: (string | number | null)[]): DocumentWork<boolean> {
  return (yield* query(`${sql} RETURNING key`, ...values)).length > 0;
}

function claimedOf(row: Row): ClaimedJob {
  return {
    id: numberOf(row, 'key'),
    filename: textOf(row, 'filename'),
    title: optionalTextOf(row, 'title'),
    docType: optionalTextOf(row, 'doc_type'),
    contentType: textOf(row, 'content_type'),
    contentHash: textOf(row, 'content_hash'),
    note: optionalTextOf(row, 'note'),
    crashes: numberOf(row, 'crashes'),
    retries: numberOf(row, 'retries'),
  };
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}
