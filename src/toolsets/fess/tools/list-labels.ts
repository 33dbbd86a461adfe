import * as z from 'zod';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { FessApi } from '../fess-api/fess-api.ts';

/** Creates the tool `list_labels`. Like `health`, it is not limited to the domain. */
export function createListLabelsTool(api: FessApi): Tool {
  return defineTool({
    name: 'list_labels',
    title: 'List labels',
    description:
      'List all labels configured in the underlying Fess server that are visible to the bridge. For diagnostics.',
    effect: 'read',
    openWorld: true,
    input: z.object({}),
    output: z.object({ labels: z.array(z.object({ label: z.string(), value: z.string() })) }),
    run: async (_, { signal }) => ({ labels: await api.labels({ signal }) }),
  });
}
