import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { splitTags } from '../inputs/collections.ts';
import { createKbTableTool } from './kb-list.ts';

const page = { limit: z.int().min(1).max(500).default(50), offset: z.int().min(0).default(0) };
const jobId = z.union([z.int(), z.string()]);

/** Creates tools that only the console offers. With a remote engine, there is only `kb_cancel_job`. */
export function createKbConsoleTools(engine: Engine): Tool[] {
  const cancel = defineTool({
    name: 'kb_cancel_job',
    title: 'Cancel a job',
    description: 'Cancels an ingestion job. Jobs that have ended do not change.',
    effect: 'change',
    input: z.object({ job_id: jobId }),
    output: looseOutput('job_id, status'),
    async run({ job_id: id }, { signal }) {
      const { status } = await engine.cancelJob(id, { signal });
      return { job_id: id, status };
    },
  });
  const { maintenance } = engine;
  if (maintenance === undefined) return [cancel];
  return [
    cancel,
    createKbTableTool(engine, maintenance),
    defineTool({
      name: 'kb_clear_jobs',
      title: 'Clear finished jobs',
      description: 'Removes finished uploads from the list of jobs.',
      effect: 'change',
      input: z.object({}),
      output: looseOutput('cleared'),
      run: async (_, { signal }) => ({ cleared: await maintenance.clearJobs({ signal }) }),
    }),
    defineTool({
      name: 'kb_trash',
      title: 'Deleted documents',
      description: 'Lists deleted documents that can be restored, last deleted first.',
      effect: 'read',
      input: z.object(page),
      output: looseOutput('documents, total'),
      async run(request, { signal }) {
        const { documents, total } = await maintenance.deletedDocuments(request, { signal });
        return { documents: documents.map(({ tags, ...rest }) => ({ ...rest, ...splitTags(tags) })), total };
      },
    }),
    defineTool({
      name: 'kb_purge',
      title: 'Delete documents permanently',
      description: 'Permanently removes deleted documents.',
      effect: 'change',
      input: z.object({ document_ids: z.array(z.int()).min(1).max(500) }),
      output: looseOutput('purged'),
      run: async ({ document_ids: ids }, { signal }) => ({ purged: await maintenance.purgeDocuments(ids, { signal }) }),
    }),
  ];
}
