import { parseExact } from '../../base/exact-json.ts';
import { field, optionalTextOf, type RecordOf, type Row } from '../rows.ts';

export type Source = 'user' | 'agent';
export type ContentType = 'text' | 'multimodal';

/** Selects the entries that meet all of the conditions that are set. */
export interface EntryFilter {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
  /** The threads that the caller may see. The entry must be in one of them. */
  readonly visibleThreads?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly contentType?: ContentType | undefined;
  /** The entry must have at least one of these tags. Composed and decomposed accents are equal. */
  readonly tags?: readonly string[] | undefined;
  /** ISO 8601, UTC, with milliseconds. Both ends are included. */
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly metadata?: readonly MetadataCondition[] | undefined;
  /** A time in the same format. Finds entries as they were then. All other conditions apply to that earlier state. */
  readonly asOf?: string | undefined;
}

/** Integers that a double cannot represent exactly are bigints. */
export type Scalar = string | number | bigint | boolean;

/**
 * A condition on one metadata field. `ne` and `not_in` also match values of another type. A missing field matches only
 * `not_exists`. JSON null matches only `not_exists` and `is_null`.
 */
export type MetadataCondition = {
  /** Keys from the outermost object to the field. Arrays cannot be part of a path. */
  readonly path: readonly string[];
} & (
  | { readonly operator: 'eq' | 'ne' | 'array_contains'; readonly value: Scalar; readonly caseSensitive: boolean }
  | {
      readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
      /** Texts are ordered by code point; unless case-sensitive, case is folded first. */
      readonly value: string | number | bigint;
      readonly caseSensitive: boolean;
    }
  | { readonly operator: 'in' | 'not_in'; readonly value: readonly Scalar[]; readonly caseSensitive: boolean }
  | {
      readonly operator: 'contains' | 'starts_with' | 'ends_with';
      readonly value: string;
      readonly caseSensitive: boolean;
    }
  | { readonly operator: 'exists' | 'not_exists' | 'is_null' | 'is_not_null' }
);

export const operators = [
  ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'exists', 'not_exists', 'contains', 'starts_with'],
  ...['ends_with', 'is_null', 'is_not_null', 'array_contains'],
] as const;

/** Limits a request to the threads that the caller may see. */
export type ThreadScope = Pick<EntryFilter, 'visibleThreads'>;

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
  /** True to request a summary, which is made later. */
  readonly needsSummary?: boolean;
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

/** Days for which deleted data can be restored. Earlier versions and idempotency keys are kept for the same time. */
export const restorableDays = 30;
