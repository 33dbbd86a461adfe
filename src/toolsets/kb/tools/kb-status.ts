import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';

export function createKbStatusTool(engine: Pick<Engine, 'status'>): Tool {
  return defineTool({
    name: 'kb_status',
    title: 'Knowledge base status',
    description:
      'Engine version, model, device, counts of documents and chunks, the queue, and whether you are authenticated.',
    effect: 'read',
    input: z.object({}),
    output: z.looseObject({ version: z.string(), authenticated: z.boolean() }),
    run: async (_, { signal, caller }) => ({
      ...(await engine.status({ signal })),
      authenticated: caller.authenticated === true,
    }),
  });
}
