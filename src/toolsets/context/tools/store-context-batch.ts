import * as z from 'zod';
import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import type { NewEntry, StoreOutcome } from '../../../storage/entries.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { remarks } from '../remarks.ts';
import { idempotencyInput, idempotencyOf, parseNewEntry } from '../write-input.ts';

export function createStoreContextBatchTool({
  entries,
  meaning,
  writes,
}: Pick<ContextParts, 'entries' | 'meaning' | 'writes'>): Tool {
  return defineTool({
    name: 'store_context_batch',
    title: 'Store Context (Batch)',
    description: 'Stores up to 100 entries in one call: all of them or none, or with atomic=false those that can be.',
    effect: 'write',
    input: z.object({
      entries: z.array(z.record(z.string(), z.unknown())).min(1).max(100).describe('As store_context takes them.'),
      atomic: z.boolean().default(true),
      ...idempotencyInput,
    }),
    output: z.object({
      success: z.boolean(),
      total: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      results: z.array(z.unknown()),
      message: z.string(),
    }),
    async run(input) {
      const parsed = input.entries.map((given) => attempt(() => parseNewEntry(given, writes)));
      const faults = parsed.flatMap((item, index) => ('fault' in item ? [{ index, fault: item.fault }] : []));
      const [first] = faults;
      if (input.atomic && first !== undefined) {
        throw new CarrelError(
          'invalid_arguments',
          `Validation failed for ${faults.length} of ${parsed.length} entries, nothing was stored. First error at index ${first.index}: ${first.fault}`,
        );
      }
      const fresh = parsed.flatMap((item) => ('value' in item ? [item.value] : []));
      const outcomes =
        fresh.length === 0
          ? []
          : await entries.store({ entries: fresh, ...idempotencyOf('store_context_batch', input) });
      meaning?.wake();
      let next = 0;
      const results = parsed.map((item, index) => {
        if ('fault' in item) return { index, success: false, context_id: null, error: item.fault };
        const outcome = outcomes[next++];
        return { index, success: true, context_id: outcome?.id ?? null, error: null };
      });
      return {
        success: faults.length === 0,
        total: parsed.length,
        succeeded: outcomes.length,
        failed: faults.length,
        results,
        message:
          outcomes.length === 0
            ? 'All entries failed validation'
            : `Stored ${outcomes.length}/${parsed.length} entries successfully${notes(fresh, outcomes, meaning !== undefined)}`,
      };
    },
  });
}

function notes(fresh: readonly NewEntry[], outcomes: readonly StoreOutcome[], embeds: boolean): string {
  return remarks(
    embeds && outcomes.some(({ repeated }) => !repeated) && 'embeddings queued',
    fresh.some(({ summary }, index) => summary !== undefined && !outcomes[index]?.summaryKept) && 'summaries generated',
    outcomes.some(({ summaryKept }) => summaryKept) && 'summaries preserved',
  );
}

/** What is wrong with one item is told of that item. Everything else is not for the caller to mend. */
export function attempt<Value>(parse: () => Value): { value: Value } | { fault: string } {
  try {
    return { value: parse() };
  } catch (error) {
    if (isCarrelError(error) && error.kind === 'input') return { fault: error.message };
    throw error;
  }
}
