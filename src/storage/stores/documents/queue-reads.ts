import type { JobCounts, JobListRequest, StoredJob, StoredJobPage } from '../../contracts/ingestion.ts';
import { numberOf, textOf } from '../../statements.ts';
import { query } from '../entries/work.ts';
import { jobColumns, jobOf } from './document-rows.ts';
import { type DocumentDialect, type DocumentWork, tablesOf } from './document-work.ts';

export interface QueueReads {
  job(request: { id: number }): DocumentWork<StoredJob | undefined>;
  jobs(request: JobListRequest): DocumentWork<StoredJobPage>;
  jobCounts(): DocumentWork<JobCounts>;
  owners(): DocumentWork<string[]>;
  /** Those of the hashes that a document or a waiting job has. */
  usedOriginals(request: { hashes: readonly string[] }): DocumentWork<string[]>;
}

export function createQueueReads(dialect: DocumentDialect): QueueReads {
  const { jobs, documents } = tablesOf(dialect);
  return {
    *job({ id }) {
      const [row] = yield* query(`SELECT ${jobColumns} FROM ${jobs} WHERE key = ?`, id);
      return row === undefined ? undefined : jobOf(row);
    },
    *jobs({ status, limit, offset }) {
      const where = status === undefined ? '' : 'WHERE status = ?';
      const values = status === undefined ? [] : [status];
      const rows = yield* query(
        `SELECT ${jobColumns} FROM ${jobs} ${where} ORDER BY key DESC LIMIT ? OFFSET ?`,
        ...values,
        limit,
        offset,
      );
      const [count = {}] = yield* query(`SELECT count(*) AS total FROM ${jobs} ${where}`, ...values);
      return { jobs: rows.map(jobOf), total: numberOf(count, 'total') };
    },
    *jobCounts() {
      const counts = { queued: 0, processing: 0, done: 0, failed: 0, cancelled: 0 };
      for (const row of yield* query(
        `SELECT status, count(*) AS total FROM ${jobs} WHERE kind = 'ingest' GROUP BY status`,
      )) {
        Object.assign(counts, { [textOf(row, 'status')]: numberOf(row, 'total') });
      }
      return counts;
    },
    *owners() {
      const rows = yield* query(`SELECT DISTINCT lease_owner FROM ${jobs} WHERE status = 'processing'`);
      return rows.map((row) => textOf(row, 'lease_owner'));
    },
    *usedOriginals({ hashes }) {
      const list = { list: hashes };
      const rows = yield* query(
        `SELECT content_hash FROM ${documents} WHERE content_hash IN (${dialect.texts})
         UNION SELECT content_hash FROM ${jobs} WHERE content_hash IN (${dialect.texts})
           AND kind = 'ingest' AND status IN ('queued', 'processing')`,
        ...[list, list],
      );
      return rows.map((row) => textOf(row, 'content_hash'));
    },
  };
}
