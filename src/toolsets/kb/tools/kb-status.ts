import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';

export function createKbStatusTool(engine: Pick<Engine, 'status'>): Tool {
  return defineTool({
    name: 'kb_status',
    title: 'Knowledge base status',
    description:
      'Reports engine version, model, device, counts of documents and chunks, the queue, and whether you are authenticated.',
    effect: 'read',
    input: z.object({}),
    output: freeAnswer(
      'version, authenticated, model, device, documents, chunks, collections, queue, storage, unembedded?, degraded?',
    ),
    run: async (_, { signal, caller }) => ({
      ...(await engine.status({ signal })),
      authenticated: caller.authenticated === true,
    }),
  });
}
