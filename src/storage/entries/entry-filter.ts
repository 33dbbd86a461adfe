export type Source = 'user' | 'agent';
export type ContentType = 'text' | 'multimodal';

/** Selects the entries that meet all of the conditions that are set. */
export interface EntryFilter {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
  /** The entry must be in one of these threads. Used for callers who may not see other threads. */
  readonly amongThreads?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly contentType?: ContentType | undefined;
  /** The entry must have at least one of these tags, with composed or decomposed accents. */
  readonly tags?: readonly string[] | undefined;
  /** ISO 8601, UTC, with milliseconds. Both ends are included. */
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly metadata?: readonly MetadataCondition[] | undefined;
  /** A time in the same format. Finds entries as they were then, and all other conditions apply to that earlier state. */
  readonly asOf?: string | undefined;
}

/** Integers that a double cannot represent exactly are bigints. */
export type Scalar = string | number | bigint | boolean;

/**
 * A condition on one metadata field. Types are distinguished: a number never equals a text, and `ne` and `not_in` hold for a
 * value of another type. A missing field satisfies only `not_exists`. JSON null satisfies only `not_exists` and `is_null`.
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
