export type Source = 'user' | 'agent';
export type ContentType = 'text' | 'multimodal';

/** All given conditions must hold. */
export interface EntryFilter {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
  /** The entry's thread must be one of these. For callers who may not see others. */
  readonly amongThreads?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly contentType?: ContentType | undefined;
  /** The entry must have at least one of them, with composed or decomposed accents. */
  readonly tags?: readonly string[] | undefined;
  /** ISO 8601, UTC, with milliseconds; both ends included. */
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly metadata?: readonly MetadataCondition[] | undefined;
  /** Shows the memory as it was at this time, in the same form. All other conditions then apply to the entries as they were. */
  readonly asOf?: string | undefined;
}

/** Integers that a double cannot hold are bigints. */
export type Scalar = string | number | bigint | boolean;

/**
 * A condition on one metadata field. Types are distinguished: a number never equals its text, and `ne` and `not_in` hold for a
 * value of another type. A missing field and JSON null satisfy only `not_exists`, and null also `is_null`.
 */
export type MetadataCondition = {
  /** Keys from the outermost to the field. They pass through objects only, never into arrays. */
  readonly path: readonly string[];
} & (
  | { readonly operator: 'eq' | 'ne' | 'array_contains'; readonly value: Scalar; readonly caseSensitive: boolean }
  | {
      readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
      /** Text is ordered by code point, after folding unless case-sensitive. */
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
