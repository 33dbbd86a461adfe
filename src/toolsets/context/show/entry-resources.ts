import { hash } from 'node:crypto';
import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { shortHash } from '../../../answers/explain.ts';
import { listInPages } from '../../../answers/list-in-pages.ts';
import { CarrelError } from '../../../base/errors.ts';
import { fittingUnits, wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Call } from '../../../tools/call.ts';
import type { CitableTexts } from '../../../tools/citable-texts.ts';
import { originOfMetadata } from '../../../tools/origin.ts';
import type { ResourceProvider, ResourceSummary } from '../../../tools/resource.ts';
import { beginning, checkSameText, createCursorSigner } from '../../../tools/signed-cursor.ts';
import { entryUriPrefix, imageUri, truncate } from './entry-shapes.ts';
import { batchBytes } from './fit-answer.ts';

const newestMax = 50;
/** Request for entries with only the first character of their texts. */
const textlessRequest = { filter: {}, images: false, explain: false, textChars: 1 };
const titleChars = 80;
/** Characters loaded of an entry for its title: usually the whole first line. */
const firstChars = 1_000;
const mimeType = 'text/plain';

/** Offers entries as `carrel://context/<id>`, newest first. */
export function createEntryResources(entries: EntryStore): ResourceProvider {
  const listCursors = createCursorSigner(entryUriPrefix);
  const textCursors = createCursorSigner(`${entryUriPrefix} text`);
  const imageCursors = createCursorSigner(`${entryUriPrefix} image`);
  return {
    uriPrefix: entryUriPrefix,
    templates: [
      {
        uriTemplate: `${entryUriPrefix}{id}`,
        name: 'context entry',
        title: 'Context entry',
        description: 'The text of a memory entry.',
        mimeType,
      },
      {
        uriTemplate: `${entryUriPrefix}{id}/images/{number}`,
        name: 'context image',
        title: 'Image of a context entry',
        description: 'An image stored with an entry, counted from 0.',
        mimeType: 'application/octet-stream',
      },
    ],
    async list(cursor, { signal }) {
      const list = {
        read: async (offset: number, limit: number) => {
          const { entries: first, remainingIds } = await entries.list(
            { ...textlessRequest, limit, offset, bytesMax: batchBytes },
            { signal },
          );
          return [...first.map(({ id }) => id), ...remainingIds];
        },
        idOf: String,
      };
      const { members, ...next } = await listInPages(list, listCursors, cursor);
      const resources: ResourceSummary[] = [];
      let ids = members;
      while (ids.length > 0) {
        const request = {
          ids,
          images: false,
          textChars: firstChars,
          order: 'requested',
          bytesMax: batchBytes,
        } as const;
        const batch = await entries.load(request, { signal });
        for (const { id, text, threadId, source, createdAt } of batch.entries) {
          resources.push({
            uri: `${entryUriPrefix}${id}`,
            name: String(id),
            title: titleOf(text),
            description: `Thread ${threadId}, ${source}, ${createdAt.slice(0, 10)}`,
            mimeType,
          });
        }
        ids = batch.remainingIds;
      }
      return { resources, ...next };
    },
    async fingerprint(uri, { signal }) {
      if (uri === undefined) return JSON.stringify((await newest(signal)).map(({ id, updatedAt }) => [id, updatedAt]));
      const [, idText = ''] = /^([1-9]\d{0,14})$/.exec(uri.slice(entryUriPrefix.length)) ?? [];
      const request = { ids: [Number(idText)], images: false, textChars: 1, bytesMax: batchBytes } as const;
      const [entry] = idText === '' ? [] : (await entries.load({ ...request, order: 'requested' }, { signal })).entries;
      if (entry === undefined) throw notFound(uri);
      return entry.updatedAt;
    },
    /** Suggests the newest ids that start with the typed text. */
    complete: async (_template, variable, typed, { signal }) =>
      variable === 'id' ? (await newest(signal)).map(({ id }) => String(id)).filter((id) => id.startsWith(typed)) : [],
    async read({ uri, cursor }, call) {
      const [, idText, index] =
        /^([1-9]\d{0,14})(?:\/images\/(\d{1,4}))?$/.exec(uri.slice(entryUriPrefix.length)) ?? [];
      if (idText === undefined) throw notFound(uri);
      const id = Number(idText);
      if (index !== undefined) return readImage({ id, position: Number(index) }, cursor, call);
      const [entry] = await entries.get({ ids: [id], images: false }, call);
      if (entry === undefined) throw notFound(uri);
      const { threadId, source, tags, metadata, createdAt, updatedAt } = entry;
      const meta = {
        thread_id: threadId,
        source,
        origin: originOfMetadata(metadata),
        tags,
        metadata: metadata ?? null,
        created_at: createdAt,
        updated_at: updatedAt,
      };
      const position = cursor === undefined ? beginning : textCursors.read(cursor);
      const version = [idText, entry.textHash];
      checkSameText(position, version);
      const start = position.at;
      const bytesMax = Math.max(itemBytesMax(call) - wireBytes(meta, 1), textBytesMin);
      const end = start + fittingUnits(entry.text, 1, bytesMax, start);
      const next = end < entry.text.length ? { nextCursor: textCursors.issue(end, version) } : {};
      const text = entry.text.slice(start, end);
      return {
        contents: [{ uri: `${entryUriPrefix}${id}`, mimeType, text, _meta: { ...meta, ...next } }],
        ...next,
      };
    },
  };

  async function newest(signal: AbortSignal) {
    return (await entries.list({ ...textlessRequest, limit: newestMax, offset: 0 }, { signal })).entries;
  }

  /** Reads an image, or the next part of a large one. The base64 of the parts can be joined. */
  async function readImage(request: { id: number; position: number }, cursor: string | undefined, call: Call) {
    const uri = imageUri(request.id, request.position);
    const image = await entries.image(request, call);
    if (image === undefined) throw notFound(uri);
    const position = cursor === undefined ? beginning : imageCursors.read(cursor);
    const start = position.at;
    const end = Math.min(image.data.length, start + 3 * Math.floor(itemBytesMax(call) / 4));
    const isPart = start > 0 || end < image.data.length;
    const version = isPart ? [String(request.id), hash('sha256', image.data)] : [];
    checkSameText(position, version);
    const blob = Buffer.from(image.data.subarray(start, end)).toString('base64');
    const next = end < image.data.length ? { nextCursor: imageCursors.issue(end, version) } : {};
    const meta = { size: image.data.length, metadata: image.metadata ?? null };
    return { contents: [{ uri, mimeType: image.mimeType, blob, _meta: { ...meta, ...next } }], ...next };
  }
}

/** Min bytes for text, so that every read makes progress. */
const textBytesMin = 16_384;

function notFound(uri: string): CarrelError {
  return new CarrelError('resource_not_found', 'No context entry has this URI.', { data: { uri } });
}

/** Returns the first line, shortened to a title. */
export function titleOf(text: string, charsMax = titleChars): string {
  return truncate(text.split('\n', 1)[0]?.trim() ?? '', charsMax).text;
}

/** Returns an entry's URI, its hash for `verify`, and the range of the scored passage in UTF-16 units. */
export function citationOf(
  { id, text, textHash }: Entry,
  range: readonly [start: number, end: number] | undefined,
): { uri: string; hash: string; range: [start: number, end: number] } {
  const [start, end] = range ?? [0, text.length];
  return { uri: `${entryUriPrefix}${id}`, hash: shortHash(textHash), range: [start, end] };
}

export function createCitableEntries(entries: Pick<EntryStore, 'get'>): CitableTexts {
  return {
    uriPrefixes: [entryUriPrefix],
    async read(uri, { signal }) {
      const id = /^[1-9]\d{0,14}$/.exec(uri.slice(entryUriPrefix.length))?.[0];
      const [entry] = id === undefined ? [] : await entries.get({ ids: [Number(id)], images: false }, { signal });
      return entry && { hash: entry.textHash, passages: [{ text: entry.text }] };
    },
  };
}
