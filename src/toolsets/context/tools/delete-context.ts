import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { RemoveOutcome } from '../../../storage/entries/remove-entries.ts';
import { askToRemove, requireConfirmation, unconfirmedIdsMax } from '../../../tools/question.ts';
import { defineTool, looseOutput, named, type Tool } from '../../../tools/tool.ts';
import { type ContextParts, type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { bounds } from '../inputs.ts';
import { remarks, truncate } from '../show/entry-shapes.ts';
import { idempotencyInput, idempotencyOf } from '../write/write-input.ts';

const dryRunInput = {
  dry_run: z.boolean().default(false).describe('Only report what would be deleted.'),
};

export function createDeleteContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'delete_context',
    title: 'Delete Context',
    description: 'Deletes memory entries by id, or a whole thread. Within 30 days, restore_context brings them back.',
    effect: 'change',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.idsToRemove.max).optional(),
      thread_id: z.string().min(1).optional(),
      ...dryRunInput,
      ...idempotencyInput,
    }),
    output: looseOutput(
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

function deletedAnswer({ count, missingThreads }: RemoveOutcome) {
  return {
    success: true,
    deleted_count: count,
    ...missingFields(missingThreads),
    message: `Successfully deleted ${count} context entries${missingRemark(missingThreads)}`,
  };
}

function dryRunAnswer({ count, ids, missingThreads }: RemoveOutcome) {
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
function missingRemark([first, ...otherThreads]: readonly string[] = []): string {
  if (first === undefined) return '';
  const more = otherThreads.length > 0 ? ` and ${otherThreads.length} more` : '';
  return remarks(
    `there is no thread ${JSON.stringify(truncate(first, 80).text)}${more}; list_threads lists all threads`,
  );
}

const samplesMax = 3;

export function createDeleteContextBatchTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'delete_context_batch',
    title: 'Delete Context (Batch)',
    description:
      'Deletes the memory entries that match every given criterion: ids, threads, source, age. Within 30 days, restore_context brings them back.',
    effect: 'change',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.idsToRemove.max).optional(),
      thread_ids: z.array(z.string().min(1)).min(1).max(bounds.threads.max).optional(),
      source: z.enum(['user', 'agent']).optional().describe('Requires another criterion.'),
      older_than_days: z.int().min(1).max(bounds.days.max).optional(),
      ...dryRunInput,
      ...idempotencyInput,
    }),
    // Declares its properties, unlike delete_context, because mcp-context-server does so too.
    output: named(
      ...(['success', 'deleted_count', 'criteria_used', 'message', 'missing_threads', 'dry_run'] as const),
      ...(['would_delete_count', 'would_delete_ids'] as const),
    ),
    async questions(input, { signal }) {
      const isByIdsOnly = input.thread_ids === undefined && input.older_than_days === undefined;
      if (input.dry_run || (isByIdsOnly && (input.context_ids?.length ?? 0) <= unconfirmedIdsMax)) return undefined;
      const { count, ids, hash: about = '' } = await entries.remove({ ...criteriaOf(input), dryRun: true });
      if (count === 0) return undefined;
      const shown = await entries.get({ ids: ids.slice(0, samplesMax), images: false }, { signal });
      return askToRemove(['memory entry', 'memory entries'], count, { samples: shown.map(({ text }) => text), about });
    },
    async run(input, { answered }) {
      const {
        context_ids: ids,
        thread_ids: threadIds,
        source,
        older_than_days: olderThanDays,
        dry_run: dryRun,
      } = input;
      const onlyHash = requireConfirmation(answered);
      if (ids === undefined && threadIds === undefined && olderThanDays === undefined) {
        throw new CarrelError(
          'invalid_arguments',
          source === undefined
            ? 'At least one criterion must be provided: context_ids, thread_ids, source, or older_than_days'
            : 'source must be combined with another criterion: context_ids, thread_ids, or older_than_days',
        );
      }
      const criteriaUsed = [
        ids && `context_ids: ${ids.length} IDs`,
        threadIds && `thread_ids: ${threadIds.length} threads`,
        source && `source: ${source}`,
        olderThanDays !== undefined && `older_than_days: ${olderThanDays}`,
      ].filter((text) => typeof text === 'string');
      const removed = await entries.remove({
        ...criteriaOf(input),
        dryRun,
        onlyHash,
        ...idempotencyOf('delete_context_batch', input),
      });
      return { ...(dryRun ? dryRunAnswer(removed) : deletedAnswer(removed)), criteria_used: criteriaUsed };
    },
  });
}

interface Criteria {
  context_ids?: number[] | undefined;
  thread_ids?: string[] | undefined;
  source?: 'user' | 'agent' | undefined;
  older_than_days?: number | undefined;
}

function criteriaOf({ context_ids: ids, thread_ids: threadIds, source, older_than_days: olderThanDays }: Criteria) {
  return { ids, threadIds: threadIds?.map((threadId) => threadId.trim()), source, olderThanDays };
}

export function createRestoreContextTool(parts: Omit<WriteParts, 'writes'>): Tool {
  return defineTool({
    name: 'restore_context',
    title: 'Restore Context',
    description: 'Restores memory entries deleted in the last 30 days, by id or a whole thread.',
    effect: 'add',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.idsToRemove.max).optional(),
      thread_id: z.string().min(1).optional(),
      ...idempotencyInput,
    }),
    output: looseOutput('success, restored_count, restored_ids, message'),
    async run(input) {
      const { context_ids: ids, thread_id: threadId } = input;
      if ((ids === undefined) === (threadId === undefined)) {
        throw new CarrelError('invalid_arguments', 'Must provide either context_ids or thread_id');
      }
      const { ids: restored } = await parts.entries.restore({
        ids,
        threadId: threadId?.trim(),
        ...idempotencyOf('restore_context', input),
      });
      wakeBacklogs(parts);
      return {
        success: true,
        restored_count: restored.length,
        restored_ids: [...restored],
        message: `Successfully restored ${restored.length} context entries`,
      };
    },
  });
}

/** Creates the tools that only the web console offers. */
export function createContextConsoleTools({ entries }: Pick<ContextParts, 'entries'>): Tool[] {
  return [
    defineTool({
      name: 'context_trash',
      title: 'Deleted memories',
      description: 'Lists deleted memory entries that can be restored, last deleted first.',
      effect: 'read',
      input: z.object({ limit: z.int().min(1).max(500).default(50), offset: z.int().min(0).default(0) }),
      output: looseOutput('entries, total'),
      async run(request, { signal }) {
        const { entries: deleted, total } = await entries.deleted(request, { signal });
        const shown = deleted.map(({ id, threadId, text, createdAt, deletedAt }) => ({
          id,
          thread_id: threadId,
          text,
          created_at: createdAt,
          deleted_at: deletedAt,
        }));
        return { entries: shown, total };
      },
    }),
    defineTool({
      name: 'context_purge',
      title: 'Delete memories permanently',
      description: 'Permanently removes deleted memory entries.',
      effect: 'change',
      input: z.object({ context_ids: z.array(z.int()).min(1).max(500) }),
      output: looseOutput('purged'),
      run: async ({ context_ids: ids }) => ({ purged: await entries.purge({ ids }) }),
    }),
  ];
}
