import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { WebSources } from '../../../crawl/web-sources.ts';
import { collectionTag } from '../../../engine/collection-tag.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { tagsToStore } from '../inputs/collections.ts';
import { filingInput } from '../kb-parts.ts';

const { collection, tags } = filingInput;
const patterns = z.array(z.string()).max(50).optional();

/** Creates the web source tools of the console. `allowed` has the collections of a restricted caller. */
export function createSourceTools(sources: WebSources, allowed?: readonly string[]): Tool[] {
  return [
    defineTool({
      name: 'kb_add_source',
      title: 'Add a web source',
      description: 'Adds a page, site, sitemap or feed, and starts its first run.',
      effect: 'add',
      input: z.object({
        url: z.string(),
        mode: z.enum(['page', 'site', 'sitemap', 'feed']).default('page'),
        collection,
        tags,
        depth: z.int().optional(),
        pages: z.int().optional(),
        include: patterns,
        exclude: patterns,
        refresh: z.string().optional(),
        version: z.string().optional(),
      }),
      output: freeAnswer('source_id, job_id, url'),
      run: ({ collection, tags, mode, ...request }) =>
        sources.add({ ...request, [mode]: true, tags: tagsToStore({ collection, tags }, allowed) }),
    }),
    defineTool({
      name: 'kb_change_source',
      title: 'Change a web source',
      description: 'Refreshes, pauses, resumes or removes a web source.',
      effect: 'change',
      input: z.object({
        source_id: z.int(),
        action: z.enum(['refresh', 'pause', 'resume', 'remove']),
        documents: z.boolean().default(false).describe('With remove: also delete its documents.'),
      }),
      output: freeAnswer('job_id?, deleted?, kept?'),
      async run({ source_id: id, action, documents }) {
        const [known] = await sources.list({ ids: [id], anyTags: allowed?.map(collectionTag) });
        if (known === undefined) throw new CarrelError('source_not_found', 'This web source was removed.');
        if (action === 'refresh') return { job_id: await sources.refresh(id) };
        if (action === 'remove') return sources.remove(id, { documents });
        await sources[action](id);
        return {};
      },
    }),
  ];
}
