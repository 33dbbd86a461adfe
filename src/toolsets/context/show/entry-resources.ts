import { CarrelError } from '../../../base/errors.ts';
import type { EntryStore } from '../../../storage/contracts/entries.ts';
import { originOfMetadata } from '../../../tools/origin.ts';
import type { ResourceProvider } from '../../../tools/resource.ts';
import { createCursorSigner } from '../../../tools/signed-cursor.ts';
import { truncate } from './entry-shapes.ts';

export const entryUriPrefix = 'carrel://context/';

const pageSize = 50;
const titleChars = 80;
const mimeType = 'text/plain';

/** Entries as `carrel://context/<id>`, newest first. */
export function createEntryResources(entries: EntryStore): ResourceProvider {
  const cursors = createCursorSigner(entryUriPrefix);
  return {
    uriPrefix: entryUriPrefix,
    templates: [
      {
        uriTemplate: `${entryUriPrefix}{id}`,
        name: 'context entry',
        title: 'Context entry',
        description: 'The text of a stored context entry.',
        mimeType,
      },
    ],
    async list(cursor, { signal }) {
      const offset = cursor === undefined ? 0 : cursors.read(cursor);
      const request = { filter: {}, limit: pageSize + 1, offset, images: false, explain: false };
      const { entries: found } = await entries.list(request, { signal });
      const resources = found.slice(0, pageSize).map(({ id, text, threadId, source, createdAt }) => ({
        uri: `${entryUriPrefix}${id}`,
        name: String(id),
        title: titleOf(text),
        description: `Thread ${threadId}, ${source}, ${createdAt.slice(0, 10)}`,
        mimeType,
      }));
      return found.length > pageSize ? { resources, nextCursor: cursors.issue(offset + pageSize) } : { resources };
    },
    async read({ uri }, { signal }) {
      const id = /^[1-9]\d{0,14}$/.exec(uri.slice(entryUriPrefix.length))?.[0];
      const [entry] = id === undefined ? [] : await entries.get({ ids: [Number(id)], images: false }, { signal });
      if (entry === undefined) {
        throw new CarrelError('resource_not_found', 'No context entry has this URI.', { data: { uri } });
      }
      const { threadId, source, tags, metadata, createdAt, updatedAt } = entry;
      return {
        contents: [
          {
            uri: `${entryUriPrefix}${entry.id}`,
            mimeType,
            text: entry.text,
            _meta: {
              thread_id: threadId,
              source,
              origin: originOfMetadata(metadata),
              tags,
              metadata: metadata ?? null,
              created_at: createdAt,
              updated_at: updatedAt,
            },
          },
        ],
      };
    },
  };
}

/** The first line, shortened to the length of a title. */
export function titleOf(text: string): string {
  return truncate(text.split('\n', 1)[0]?.trim() ?? '', titleChars).text;
}
