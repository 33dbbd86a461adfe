import { parseExact } from '../../base/exact-json.ts';
import { field, type RecordOf } from '../record.ts';
import { optionalTextOf, type Row } from '../rows.ts';
import type { ContentType, EntryFilter, Source } from './entry-filter.ts';

/** For callers who may see only these threads. */
export type AmongThreads = Pick<EntryFilter, 'amongThreads'>;

export type Metadata = Readonly<Record<string, unknown>>;

export interface NewImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
  /** As given: an object or any text. */
  readonly metadata: Metadata | string | undefined;
}

export interface NewEntry {
  readonly threadId: string;
  readonly source: Source;
  readonly text: string;
  readonly metadata: Metadata | undefined;
  /** Normalised and unique. */
  readonly tags: readonly string[];
  readonly images: readonly NewImage[];
  /** Only for imported entries. */
  readonly summary: string | undefined;
  /** Summarise later. */
  readonly summaryWanted?: boolean;
  /** Only for imported entries; else the time of the call. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export const entryFields = {
  id: field.number('key'),
  threadId: field.text('thread_id'),
  source: field.text<Source>('source'),
  contentType: field.text<ContentType>('content_type'),
  text: field.text('text_content'),
  /** SHA-256 of the whole text, even if only a part was requested. */
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
  /** Only if requested. */
  readonly images?: readonly NewImage[];
}

/** The numbers are exact; see exact-json. */
export function metadataOf(row: Row): Metadata | undefined {
  const metadata = optionalTextOf(row, 'metadata');
  return metadata === undefined ? undefined : (parseExact(metadata) as Metadata);
}

/** A repeated write returns the first answer and changes nothing. */
export interface Idempotency {
  readonly key: string;
  /** Hash of tool and arguments: the same key with another hash is a conflict. */
  readonly bodyHash: string;
}

export interface WriteRequest {
  readonly idempotency?: Idempotency | undefined;
}

/** Max metadata of an entry as JSON, in UTF-16 units. */
export const metadataUnitsMax = 1024 * 1024;

/** How long a removed entry can be restored, and an idempotency key is remembered. */
export const keptDays = 30;
