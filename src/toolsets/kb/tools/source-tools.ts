import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { ShownSource, WebSources } from '../../../crawl/web-sources.ts';
import { collectionTag } from '../../../engine/collection-tag.ts';
import type { ResourceProvider } from '../../../tools/resource.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { tagsToStore } from '../inputs/collections.ts';
import { newDocumentInput } from '../inputs/document-inputs.ts';

export function createKbSourcesTool(sources: Pick<WebSources, 'list'>, allowedCollections?: readonly string[]): Tool {
  return defineTool({
    name: 'kb_sources',
    title: 'Web sources',
    description:
      'Lists the web pages, sites and feeds that documents come from, each with its last run. kb_add adds one.',
    effect: 'read',
    input: z.object({}),
    output: looseOutput('sources, total'),
    async run() {
      const found = await sources.list({ anyTags: allowedCollections?.map(collectionTag) });
      return { sources: found, total: found.length };
    },
  });
}

const { collection, tags } = newDocumentInput;
const patterns = z.array(z.string()).max(50).optional();

/** Creates the web source tools of the console. `allowedCollections` is set for a restricted caller. */
export function createSourceTools(sources: WebSources, allowedCollections?: readonly string[]): Tool[] {
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
      output: looseOutput('source_id, job_id, url'),
      run: ({ collection, tags, mode, ...request }) =>
        sources.add({ ...request, [mode]: true, tags: tagsToStore({ collection, tags }, allowedCollections) }),
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
      output: looseOutput('job_id?, deleted?, kept?'),
      async run({ source_id: id, action, documents }) {
        const [source] = await sources.list({ ids: [id], anyTags: allowedCollections?.map(collectionTag) });
        if (source === undefined)
          throw new CarrelError('source_not_found', 'No web source has this id. It may have been removed.');
        if (action === 'refresh') return { job_id: await sources.refresh(id) };
        if (action === 'remove') return sources.remove(id, { documents });
        await sources[action](id);
        return {};
      },
    }),
  ];
}

const sourceUriPrefix = 'carrel://kb/source/';
const mimeType = 'application/json';

/** Provides web sources as the resources `carrel://kb/source/<id>`. Notifies subscribers when a run starts or ends. */
export function createSourceResources(
  sources: Pick<WebSources, 'list'>,
  allowedCollections?: readonly string[],
): ResourceProvider {
  const anyTags = allowedCollections?.map(collectionTag);
  const find = async (uri: string): Promise<ShownSource> => {
    const id = /^[1-9]\d{0,14}$/.exec(uri.slice(sourceUriPrefix.length))?.[0];
    const [source] = id === undefined ? [] : await sources.list({ ids: [Number(id)], anyTags });
    if (source !== undefined) return source;
    throw new CarrelError('resource_not_found', 'No web source has this URI.', {
      data: { uri },
    });
  };
  return {
    uriPrefix: sourceUriPrefix,
    templates: [
      {
        uriTemplate: `${sourceUriPrefix}{id}`,
        name: 'kb source',
        title: 'Web source',
        description: 'A page, site or feed that the knowledge base tracks, and its last run.',
        mimeType,
      },
    ],
    async list() {
      const found = await sources.list({ anyTags });
      return {
        resources: found.map(({ source_id: id, url, mode, created_at: created }) => ({
          uri: `${sourceUriPrefix}${id}`,
          name: String(id),
          title: url,
          description: `${mode}, ${created.slice(0, 10)}`,
          mimeType,
        })),
      };
    },
    async fingerprint(uri) {
      if (uri !== undefined) return fingerprintOf(await find(uri));
      return JSON.stringify((await sources.list({ anyTags })).map(fingerprintOf));
    },
    async read({ uri }) {
      return { contents: [{ uri, mimeType, text: JSON.stringify(await find(uri), null, 2) }] };
    },
  };
}

function fingerprintOf({ source_id, status, documents, last_run }: ShownSource): string {
  return JSON.stringify([source_id, status, documents, last_run?.['job_id'], last_run?.['ended_at']]);
}
