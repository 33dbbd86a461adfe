import { CarrelError } from '../../../base/errors.ts';
import type { ShownSource, WebSources } from '../../../crawl/web-sources.ts';
import { collectionTag } from '../../../engine/collection-tag.ts';
import type { ResourceProvider } from '../../../tools/resource.ts';

export const sourceUriPrefix = 'carrel://kb/source/';
const mimeType = 'application/json';

/** Provides web sources as the resources `carrel://kb/source/<id>`. Notifies subscribers when a run starts or ends. */
export function createSourceResources(
  sources: Pick<WebSources, 'list'>,
  allowed?: readonly string[],
): ResourceProvider {
  const anyTags = allowed?.map(collectionTag);
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
    async stamp(uri) {
      if (uri !== undefined) return stampOf(await find(uri));
      return JSON.stringify((await sources.list({ anyTags })).map(stampOf));
    },
    async read({ uri }) {
      return { contents: [{ uri, mimeType, text: JSON.stringify(await find(uri), null, 2) }] };
    },
  };
}

function stampOf({ source_id, status, documents, last_run }: ShownSource): string {
  return JSON.stringify([source_id, status, documents, last_run?.['job_id'], last_run?.['ended_at']]);
}
