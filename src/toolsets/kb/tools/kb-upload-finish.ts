import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { createLastingIngestion } from '../actions/lasting-ingestion.ts';
import { describeOutcome } from '../kb-parts.ts';
import { outcomeOutput } from '../shapes/shapes.ts';
import type { Uploads } from '../uploads/create-uploads.ts';

export function createKbUploadFinishTool(deps: {
  uploads: Pick<Uploads, 'finish'>;
  engine: Pick<Engine, 'documentAlone' | 'submit' | 'job' | 'cancelJob'>;
}): Tool {
  return defineTool({
    name: 'kb_upload_finish',
    title: 'Finish an upload',
    description: 'Submits the complete file and returns the job_id of its ingestion. If this fails, call it again.',
    effect: 'add',
    idempotent: true,
    input: z.object({ upload_id: z.string() }),
    output: outcomeOutput,
    lasting: createLastingIngestion(deps.engine),
    async run({ upload_id: id }, call) {
      const { outcome, tags } = await deps.uploads.finish(id, call, deps.engine);
      return { upload_id: id, ...(await describeOutcome(deps.engine, outcome, tags, call)) };
    },
  });
}
