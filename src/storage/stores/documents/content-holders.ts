import { createHash, randomBytes } from 'node:crypto';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';

/** A document or a waiting job that has a content. */
export interface ContentHolder {
  readonly document?: number;
  readonly job?: number;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /** By which no two are the same: the hash of the content, or what stands for it. */
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

/** Whether a caller who may know only of what has one of these tags may know of it. */
export function isWithin(tags: readonly string[], anyTags: readonly string[] | undefined): boolean {
  return anyTags === undefined || anyTags.some((tag) => tags.includes(storable(tag)));
}

/** Stands for a content that somebody else has already. */
export function substituteHash(): string {
  return createHash('sha256').update(randomBytes(32)).digest('hex');
}
