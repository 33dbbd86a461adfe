import type { Statements } from '../../dialect.ts';
import { textOf } from '../../rows.ts';
import { lock } from '../idempotency.ts';

/** Removes those that neither a document, deleted or not, nor a waiting job has. The number that went. */
export async function releaseOriginals(on: Statements, { hashes }: { hashes: readonly string[] }): Promise<number> {
  let released = 0;
  for (const hash of hashes) {
    await lock(on, `kb content ${hash}`);
    const [used] = await on.query(
      `SELECT 1 AS used WHERE EXISTS (SELECT 1 FROM ${on.dialect.schema}kb_documents
        WHERE content_hash = ? OR bytes_hash = ?)
        OR EXISTS (SELECT 1 FROM ${on.dialect.schema}kb_deleted WHERE content_hash = ?)
        OR EXISTS (SELECT 1 FROM ${on.dialect.schema}kb_jobs
        WHERE (content_hash = ? OR bytes_hash = ?) AND kind = 'ingest' AND status IN ('queued', 'processing'))`,
      [hash, hash, hash, hash, hash],
    );
    if (used !== undefined) continue;
    await on.dialect.originals.remove(on, hash);
    released += 1;
  }
  return released;
}

/** Those of the hashes that a document, deleted or not, or a waiting job has. */
export async function usedOriginals(on: Statements, { hashes }: { hashes: readonly string[] }): Promise<string[]> {
  const list = { list: hashes };
  const { schema, texts } = on.dialect;
  const [documents, jobs] = [`${schema}kb_documents`, `${schema}kb_jobs`];
  const waits = "kind = 'ingest' AND status IN ('queued', 'processing')";
  const rows = await on.query(
    `SELECT content_hash AS hash FROM ${documents} WHERE content_hash IN (${texts})
      UNION SELECT bytes_hash FROM ${documents} WHERE bytes_hash IN (${texts})
      UNION SELECT content_hash FROM ${schema}kb_deleted WHERE content_hash IN (${texts})
      UNION SELECT content_hash FROM ${jobs} WHERE content_hash IN (${texts}) AND ${waits}
      UNION SELECT bytes_hash FROM ${jobs} WHERE bytes_hash IN (${texts}) AND ${waits}`,
    [list, list, list, list, list],
  );
  return rows.map((row) => textOf(row, 'hash'));
}
