import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bounds } from '../bounds.ts';
import { type WriteParts, wakeBacklogs } from '../context-parts.ts';
import { idempotencyInput, idempotencyOf } from '../write/write-input.ts';

export function createRestoreContextTool(parts: Omit<WriteParts, 'writes'>): Tool {
  return defineTool({
    name: 'restore_context',
    title: 'Restore Context',
    description: 'Restores memory entries deleted in the last 30 days, by id or a whole thread.',
    effect: 'add',
    idempotent: true,
    input: z.object({
      context_ids: z.array(z.int()).min(1).max(bounds.removedIds.max).optional(),
      thread_id: z.string().min(1).optional(),
      ...idempotencyInput,
    }),
    output: freeAnswer('success, restored_count, restored_ids, message'),
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
