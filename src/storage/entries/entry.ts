import { parseExact } from '../../base/exact-json.ts';
import { field, type RecordOf } from '../record.ts';
import { optionalTextOf, type Row } from '../rows.ts';
import type { ContentType, EntryFilter, Source } from './entry-filter.ts';

/** Limits a request to the threads that the caller may see. */
export type AmongThreads = Pick<EntryFilter, 'amongThreads'>;

export type Metadata = Readonly<Record<string, unknown>>;

export interface NewImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
  /** An object or any text, as the caller passed it. */
  readonly metadata: Metadata | string | undefined;
}

export interface NewEntry {
  readonly threadId: string;
  readonly source: Source;
  readonly text: string;
  readonly metadata: Metadata | undefined;
  /** Normalised, without duplicates. */
  readonly tags: readonly string[];
  readonly images: readonly NewImage[];
  /** Only for imported entries. */
  readonly summary: string | undefined;
  /** True if a summary is to be made later. */
  readonly summaryWanted?: boolean;
  /** Only for imported entries. Default: the time of the call. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export const entryFields = {
  id: field.number('key'),
  threadId: field.text('thread_id'),
  source: field.text<Source>('source'),
  contentType: field.text<ContentType>('content_type'),
  text: field.text('text_content'),
  /** SHA-256 of the whole text, even if only part of the text was requested. */
  textHash: field.text('text_hash'),
  metadata: { column: 'metadata', read: metadataOf },
  summary: field.optionalText('summary'),
  /** Sorted by code unit. */
  tags: field.texts('tags'),
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: field.text('created_at'),
  updatedAt: field.text('updated_at'),
};

export interface Entry extends RecordOf<typeof entryFields> {
  /** Set only if requested. */
  readonly images?: readonly NewImage[];
}

/** Parses metadata. Large integers stay exact; see exact-json.ts. */
export function metadataOf(row: Row): Metadata | undefined {
  const metadata = optionalTextOf(row, 'metadata');
  return metadata === undefined ? undefined : (parseExact(metadata) as Metadata);
}

/** Identifies a write. If the write is repeated, it returns the first answer and changes nothing. */
export interface Idempotency {
  readonly key: string;
  /** Hash of the tool and its arguments. The same key with another hash is a conflict. */
  readonly bodyHash: string;
}

export interface WriteRequest {
  readonly idempotency?: Idempotency | undefined;
}

/** Max length of an entry's metadata as JSON, in UTF-16 code units. */
export const metadataUnitsMax = 1024 * 1024;

/** Number of days for which removed data can be restored, and earlier versions and idempotency keys are stored. */
export const restorableDays = 30;
