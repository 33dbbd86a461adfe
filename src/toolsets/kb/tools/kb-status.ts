import * as z from 'zod';
import { type Engine, jobStatuses } from '../../../engine/engine.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { showJob } from '../shapes/shapes.ts';

export function createKbStatusTool(engine: Pick<Engine, 'status'>): Tool {
  return defineTool({
    name: 'kb_status',
    title: 'Knowledge base status',
    description:
      'Reports engine version, model, device, counts of documents and chunks, the queue, and whether you are authenticated.',
    effect: 'read',
    input: z.object({}),
    output: looseOutput(
      'version, authenticated, model, device, documents, chunks, collections, queue, storage, unembedded?, degraded?',
    ),
    run: async (_, { signal, caller }) => ({
      ...(await engine.status({ signal })),
      authenticated: caller.authenticated === true,
    }),
  });
}

export function createKbJobsTool(engine: Pick<Engine, 'jobs' | 'job'>): Tool {
  return defineTool({
    name: 'kb_jobs',
    title: 'Ingestion jobs',
    description:
      'Lists ingestion jobs, newest first, or one by job_id: status, progress, error, and document_id once it is done.',
    effect: 'read',
    input: z.object({
      status: z.enum([...jobStatuses, 'skipped']).optional(),
      job_id: z.union([z.int(), z.string()]).optional(),
      limit: z.int().min(1).max(500).default(50),
      offset: z.int().min(0).default(0),
    }),
    output: looseOutput('jobs, total'),
    async run({ job_id: id, ...request }, { signal }) {
      if (id !== undefined) return { jobs: [showJob(await engine.job(id, { signal }))], total: 1 };
      const { jobs, total } = await engine.jobs(request, { signal });
      return { jobs: jobs.map(showJob), total };
    },
  });
}
