import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { RemoveOutcome } from '../../../storage/entries/remove-entries.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bounds } from '../bounds.ts';
import type { ContextParts } from '../context-parts.ts';
import { truncate } from '../show/entry-shapes.ts';
import { remarks } from '../show/remarks.ts';
import { idempotencyInput, idempotencyOf } from '../write/write-input.ts';

export const dryRunInput = {
  dry_run: z.boolean().default(false).describe('Only count them.'),
};

export function createDeleteContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'delete_context',
    title: 'Delete Context',
    description: 'Deletes memory entries by id, or a whole thread. restore_context can undo this for 30 days.',
    effect: 'change',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.removedIds.max).optional(),
      thread_id: z.string().min(1).optional(),
      ...dryRunInput,
      ...idempotencyInput,
    }),
    output: freeAnswer(
      'success, deleted_count, message, missing_threads?, dry_run?, would_delete_count?, would_delete_ids?',
    ),
    async run(input) {
      const { context_ids: ids, thread_id: threadId, dry_run: dryRun } = input;
      if (ids === undefined && threadId === undefined) {
        throw new CarrelError('invalid_arguments', 'Must provide either context_ids or thread_id');
      }
      if (ids !== undefined && threadId !== undefined) {
        throw new CarrelError(
          'invalid_arguments',
          'Provide context_ids or thread_id, not both: they would select different entries',
        );
      }
      const removed = await entries.remove({
        ids,
        threadIds: threadId === undefined ? undefined : [threadId.trim()],
        dryRun,
        ...idempotencyOf('delete_context', input),
      });
      return dryRun ? dryRunAnswer(removed) : deletedAnswer(removed);
    },
  });
}

export function deletedAnswer({ count, missingThreads }: RemoveOutcome) {
  return {
    success: true,
    deleted_count: count,
    ...missingFields(missingThreads),
    message: `Successfully deleted ${count} context entries${missingRemark(missingThreads)}`,
  };
}

export function dryRunAnswer({ count, ids, missingThreads }: RemoveOutcome) {
  return {
    success: true,
    deleted_count: 0,
    dry_run: true,
    would_delete_count: count,
    /** At most a hundred ids. */
    would_delete_ids: [...ids],
    ...missingFields(missingThreads),
    message: `Would delete ${count} context entries${missingRemark(missingThreads)}`,
  };
}

function missingFields(threads: readonly string[] | undefined) {
  return threads === undefined ? {} : { missing_threads: [...threads] };
}

/** Names only the first missing thread; `missing_threads` lists all. */
function missingRemark([first, ...others]: readonly string[] = []): string {
  if (first === undefined) return '';
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return remarks(
    `there is no thread ${JSON.stringify(truncate(first, 80).text)}${more}; list_threads lists all threads`,
  );
}
