import * as z from 'zod';
import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import { named } from '../../../tools/tool.ts';
import { bounds, jsonObject } from '../inputs.ts';
import { idempotencyInput } from './write-input.ts';

/** Arguments that store_context_batch and update_context_batch share. */
export const batchInput = { atomic: z.boolean().default(true), ...idempotencyInput };

export const batchItems = z.array(jsonObject).min(1).max(bounds.batch.max);

export const batchOutput = z.object({
  success: z.boolean(),
  total: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  results: z.array(named('index', 'success', 'context_id', 'updated_fields', 'error')),
  message: z.string(),
});

export type BatchItem = Readonly<Record<string, unknown>>;

interface Batch<Item, Outcome> {
  readonly items: readonly BatchItem[];
  readonly atomic: boolean;
  parse(item: BatchItem): Item;
  /** The end of a rejected batch's error message; it follows the number of invalid items. */
  rejection(first: { index: number; fault: string }): string;
  /** Performs the valid items, in order. */
  perform(items: readonly Item[]): Promise<readonly Outcome[]>;
}

export type BatchRow<Item, Outcome> =
  | { readonly index: number; readonly fault: string }
  | { readonly index: number; readonly item: Item; readonly outcome: Outcome };

/** Performs all items or, if not atomic, the valid ones. Returns a row for every item, in order. */
export async function runBatch<Item, Outcome>(batch: Batch<Item, Outcome>): Promise<BatchRow<Item, Outcome>[]> {
  const parsed = batch.items.map((item) => tryParse(() => batch.parse(item)));
  const faults = parsed.flatMap((item, index) => ('fault' in item ? [{ index, fault: item.fault }] : []));
  const [first] = faults;
  if (batch.atomic && first !== undefined) {
    throw new CarrelError(
      'invalid_arguments',
      `Validation failed for ${faults.length} of ${parsed.length} ${batch.rejection(first)}`,
    );
  }
  const items = parsed.flatMap((item) => ('value' in item ? [item.value] : []));
  const outcomes = items.length === 0 ? [] : await batch.perform(items);
  let next = 0;
  return parsed.map((item, index) => {
    if ('fault' in item) return { index, fault: item.fault };
    const outcome = outcomes[next++];
    if (outcome === undefined) throw new TypeError('an item was performed without an outcome');
    return { index, item: item.value, outcome };
  });
}

export function batchAnswer<Row extends { success: boolean }>(
  results: readonly Row[],
  message: (succeeded: number) => string,
) {
  const succeeded = results.filter(({ success }) => success).length;
  return {
    success: succeeded === results.length,
    total: results.length,
    succeeded,
    failed: results.length - succeeded,
    results: [...results],
    message: message(succeeded),
  };
}

/** Parses an item. Returns errors that the caller can fix as a fault, and throws all others. */
function tryParse<Value>(parse: () => Value): { value: Value } | { fault: string } {
  try {
    return { value: parse() };
  } catch (error) {
    if (isCarrelError(error) && error.kind === 'input') return { fault: error.message };
    throw error;
  }
}
