import type { OriginalStore } from '../../contracts/ingestion.ts';
import type { Statements } from '../../dialect.ts';
import { textOf } from '../../rows.ts';
import type { Transactions } from '../../transactions.ts';
import { lockAll, locksMax } from '../idempotency.ts';

/** `release` of a store. */
export function createRelease({ write }: Pick<Transactions, 'write'>): OriginalStore['release'] {
  return async (hashes) => {
    let released = 0;
    for (let first = 0; first < hashes.length; first += locksMax) {
      released += await write(releaseOriginals, { hashes: hashes.slice(first, first + locksMax) });
    }
    return released;
  };
}

/** Removes those that neither a document, deleted or not, nor a waiting job has. The number that went. */
export async function releaseOriginals(on: Statements, { hashes }: { hashes: readonly string[] }): Promise<number> {
  const given = [...new Set(hashes)];
  await lockAll(
    on,
    given.map((hash) => `kb content ${hash}`),
  );
  const used = new Set(await usedOriginals(on, { hashes: given }));
  const unused = given.filter((hash) => !used.has(hash));
  for (const hash of unused) await on.dialect.originals.remove(on, hash);
  return unused.length;
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
