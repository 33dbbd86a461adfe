import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { named } from '../../../tools/free-answer.ts';
import { agreedTo, askToRemove, unconfirmedIdsMax } from '../../../tools/question.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bounds } from '../bounds.ts';
import type { ContextParts } from '../context-parts.ts';
import { idempotencyInput, idempotencyOf } from '../write/write-input.ts';
import { deletedAnswer, dryRunAnswer, dryRunInput } from './delete-context.ts';

const samplesMax = 3;

export function createDeleteContextBatchTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'delete_context_batch',
    title: 'Delete Context (Batch)',
    description:
      'Deletes the memory entries that match every given criterion: ids, threads, source, age. restore_context can undo this for 30 days.',
    effect: 'change',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.removedIds.max).optional(),
      thread_ids: z.array(z.string().min(1)).min(1).max(bounds.threads.max).optional(),
      source: z.enum(['user', 'agent']).optional().describe('Only with another criterion.'),
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
      const byIdsAlone = input.thread_ids === undefined && input.older_than_days === undefined;
      if (input.dry_run || (byIdsAlone && (input.context_ids?.length ?? 0) <= unconfirmedIdsMax)) return undefined;
      const { count, ids, hash: about = '' } = await entries.remove({ ...criteriaOf(input), dryRun: true });
      if (count === 0) return undefined;
      const shown = await entries.get({ ids: ids.slice(0, samplesMax), images: false }, { signal });
      return askToRemove(['memory entry', 'memory entries'], count, { samples: shown.map(({ text }) => text), about });
    },
    async run(input, { asked }) {
      const {
        context_ids: ids,
        thread_ids: threadIds,
        source,
        older_than_days: olderThanDays,
        dry_run: dryRun,
      } = input;
      const onlyHash = agreedTo(asked);
      if (ids === undefined && threadIds === undefined && olderThanDays === undefined) {
        throw new CarrelError(
          'invalid_arguments',
          source === undefined
            ? 'At least one criterion must be provided: context_ids, thread_ids, source, or older_than_days'
            : 'source must be combined with another criterion: context_ids, thread_ids, or older_than_days',
        );
      }
      const used = [
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
      return { ...(dryRun ? dryRunAnswer(removed) : deletedAnswer(removed)), criteria_used: used };
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
