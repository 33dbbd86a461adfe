import * as z from 'zod';
import type { WebSources } from '../../../crawl/web-sources.ts';
import { collectionTag } from '../../../engine/collection-tag.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';

export function createKbSourcesTool(sources: Pick<WebSources, 'list'>, allowed?: readonly string[]): Tool {
  return defineTool({
    name: 'kb_sources',
    title: 'Web sources',
    description:
      'Lists the web pages, sites and feeds that documents come from, each with its last run. kb_add adds one.',
    effect: 'read',
    input: z.object({}),
    output: freeAnswer('sources, total'),
    async run() {
      const found = await sources.list({ anyTags: allowed?.map(collectionTag) });
      return { sources: found, total: found.length };
    },
  });
}
