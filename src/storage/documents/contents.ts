import { createHash, randomBytes } from 'node:crypto';
import type { Statements } from '../dialect.ts';
import { lockAll, locksMax } from '../idempotency.ts';
import { numberOf, optionalTextOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { reads, writes } from '../store-operations.ts';
import type { Transactions } from '../transactions.ts';
import type { OriginalStore } from './ingestion.ts';

/** A document or waiting job with a content. */
export interface ContentHolder {
  readonly document?: number;
  readonly job?: number;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /** Unique: the hash of the content, or a substitute. */
  readonly identity: string;
}

export async function holdersOf(on: Statements, hash: string): Promise<ContentHolder[]> {
  const { schema, integers } = on.dialect;
  const documents = await on.query(
    `SELECT key, title, details, content_hash FROM ${schema}kb_documents
      WHERE content_hash = ? OR bytes_hash = ? ORDER BY key`,
    [hash, hash],
  );
  const tags = await on.query(`SELECT document, tag FROM ${schema}kb_document_tags WHERE document IN (${integers})`, [
    { list: documents.map((row) => numberOf(row, 'key')) },
  ]);
  const jobs = await on.query(
    `SELECT key, title, filename, tags, content_hash FROM ${schema}kb_jobs
      WHERE (content_hash = ? OR bytes_hash = ?) AND kind = 'ingest' AND status IN ('queued', 'processing')
      ORDER BY key`,
    [hash, hash],
  );
  return [
    ...documents.map((row) => ({
      document: numberOf(row, 'key'),
      title: textOf(row, 'title'),
      tags: tags.filter((tag) => numberOf(tag, 'document') === numberOf(row, 'key')).map((tag) => textOf(tag, 'tag')),
      details: JSON.parse(textOf(row, 'details')),
      identity: textOf(row, 'content_hash'),
    })),
    ...jobs.map((row) => ({
      job: numberOf(row, 'key'),
      title: optionalTextOf(row, 'title') ?? optionalTextOf(row, 'filename'),
      tags: JSON.parse(textOf(row, 'tags')),
      details: {},
      identity: textOf(row, 'content_hash'),
    })),
  ];
}

/** True if a caller restricted to `anyTags` may see a document with these tags. */
export function isVisible(tags: readonly string[], anyTags: readonly string[] | undefined): boolean {
  return anyTags === undefined || anyTags.some((tag) => tags.includes(storable(tag)));
}

/** A random hash, for content that another document or job already has. */
export function substituteHash(): string {
  return createHash('sha256').update(randomBytes(32)).digest('hex');
}

/** The `release` operation of a store. */
export function createRelease({ write }: Pick<Transactions, 'write'>): OriginalStore['release'] {
  return async (hashes) => {
    let released = 0;
    for (let first = 0; first < hashes.length; first += locksMax) {
      released += await write(releaseOriginals, { hashes: hashes.slice(first, first + locksMax) });
    }
    return released;
  };
}

/** Removes originals that no document (deleted or not) and no waiting job refers to. Returns their number. */
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

/** The hashes that a document (deleted or not) or a waiting job refers to. */
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

export const originalOperations = {
  ...reads({ used: usedOriginals }),
  ...writes({ release: releaseOriginals }),
};
