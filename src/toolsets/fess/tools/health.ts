import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { FessApi } from '../fess-api/fess-api.ts';

export function createHealthTool(api: FessApi): Tool {
  return defineTool({
    name: 'health',
    title: 'Health of Fess',
    description: 'Check the health status of the underlying Fess server: green, yellow or red.',
    effect: 'read',
    openWorld: true,
    input: z.object({}),
    output: z.object({ status: z.enum(['green', 'yellow', 'red']), timed_out: z.boolean() }),
    async run(_, { signal }) {
      const { status, timedOut } = await api.health({ signal });
      return { status, timed_out: timedOut };
    },
  });
}
