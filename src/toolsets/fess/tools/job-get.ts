import * as z from 'zod';
import type { CallJobs } from '../../../jobs/call-jobs.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';

/** Creates the tool `job_get`, for calls that took longer than `longRunningThresholdMs`. */
export function createJobGetTool(jobs: CallJobs): Tool {
  return defineTool({
    name: 'job_get',
    title: 'Job progress',
    description:
      'Retrieve progress information for a long-running operation, by the jobId that another tool returned. When it is done, result is the answer.',
    effect: 'read',
    takesNoSlot: true,
    input: z.object({ jobId: z.string().min(1).max(100).describe('The jobId of the earlier answer.') }),
    output: z.object({
      jobId: z.string(),
      state: z.enum(['queued', 'running', 'done', 'failed', 'cancelled']),
      progress: z.number(),
      total: z.number().optional(),
      message: z.string().optional(),
      startedAt: z.string(),
      updatedAt: z.string(),
      result: z.unknown().optional(),
      error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
    }),
    run: async ({ jobId }, { caller }) => jobs.find(jobId, caller.owner),
  });
}
