import { createHash, hash } from 'node:crypto';
import { listInPages } from '../../../answers/list-in-pages.ts';
import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import { nextChunk, partsAfter } from '../../../engine/document-parts.ts';
import type { Engine, EngineChunk, EngineDocument } from '../../../engine/engine.ts';
import type { CitablePassage, CitableTexts } from '../../../tools/citable-texts.ts';
import type { ResourceProvider } from '../../../tools/resource.ts';
import { beginning, checkSameText, createCursorSigner } from '../../../tools/signed-cursor.ts';
import { documentUriPrefix, showDocument } from './shapes.ts';

/** Approximate max UTF-16 units of text per read. */
const readingUnitsMax = 200_000;
/** Max bytes that the engine sends per read. */
const readingBytesMax = 4 * 1024 * 1024;
const mimeType = 'text/plain';
const completionsMax = 20;

/** Provides documents as the resources `carrel://kb/doc/<id>`. */
export function createDocumentResources(
  engine: Pick<Engine, 'documents' | 'document' | 'documentWithoutChunks'>,
): ResourceProvider {
  const listCursors = createCursorSigner(documentUriPrefix);
  const readCursors = createCursorSigner(`${documentUriPrefix} text`);
  return {
    uriPrefix: documentUriPrefix,
    templates: [
      {
        uriTemplate: `${documentUriPrefix}{id}`,
        name: 'kb document',
        title: 'Knowledge base document',
        description: 'The text of a document or note in the knowledge base.',
        mimeType,
      },
    ],
    async list(cursor, { signal }) {
      const list = {
        read: async (offset: number, limit: number) =>
          (await engine.documents({ limit, offset }, { signal })).documents,
        idOf: ({ id }: EngineDocument) => String(id),
      };
      const { members, ...next } = await listInPages(list, listCursors, cursor);
      const resources = members.map(({ id, title, doc_type, created_at }) => ({
        uri: `${documentUriPrefix}${id}`,
        name: String(id),
        title,
        description: `${doc_type}, ${created_at.slice(0, 10)}`,
        mimeType,
      }));
      return { resources, ...next };
    },
    async fingerprint(uri, { signal }) {
      if (uri === undefined) {
        const { documents, total } = await engine.documents({ limit: 1 }, { signal });
        return JSON.stringify([total, documents[0]?.id, documents[0]?.updated_at]);
      }
      const id = requireId(uri);
      const found = await engine.documentWithoutChunks(id, { signal }).catch(rethrowNotFound(uri));
      const { title, content_hash, updated_at, tags } = found;
      return JSON.stringify([title, content_hash, updated_at, tags]);
    },
    /** Completes an id, or words of a title. */
    async complete(_template, _variable, typed, { signal }) {
      const { documents } = await engine.documents({ query: typed, limit: completionsMax }, { signal });
      return documents.map(({ id }) => String(id));
    },
    async read({ uri, cursor }, { signal }) {
      const id = requireId(uri);
      const position = cursor === undefined ? beginning : readCursors.read(cursor);
      const first = position.at;
      const part = { first_chunk: first, bytesMax: readingBytesMax, signal };
      const { chunks, chunks_left: left, ...document } = await engine.document(id, part).catch(rethrowNotFound(uri));
      // Hashed again, because engines have different formats of hashes.
      const textVersion = [String(id), hash('sha256', document.content_hash ?? '')];
      checkSameText(position, textVersion);
      const shown = firstChunks(chunks);
      const { uri: documentUri, ...meta } = showDocument(document);
      const hasMore = shown.length < chunks.length || left !== undefined;
      const next = hasMore ? { nextCursor: readCursors.issue(nextChunk(shown, first), textVersion) } : {};
      const text = shown.map((chunk) => chunk.text).join('\n\n');
      return {
        contents: [{ uri: documentUri, mimeType, text, _meta: { ...meta, ...next } }],
        ...next,
      };
    },
  };
}

/** Returns the first chunks, until their text reaches `readingUnitsMax`. Chunks are not split. */
function firstChunks(chunks: readonly EngineChunk[]): readonly EngineChunk[] {
  let units = 0;
  const firstOmitted = chunks.findIndex(({ text }) => {
    const isFull = units >= readingUnitsMax;
    units += text.length;
    return isFull;
  });
  return firstOmitted === -1 ? chunks : chunks.slice(0, firstOmitted);
}

function idIn(uri: string): number | undefined {
  const id = /^[1-9]\d{0,14}$/.exec(uri.slice(documentUriPrefix.length))?.[0];
  return id === undefined ? undefined : Number(id);
}

function requireId(uri: string): number {
  const id = idIn(uri);
  if (id === undefined) throw notFound(uri);
  return id;
}

function rethrowNotFound(uri: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof CarrelError && error.code === 'document_not_found' ? notFound(uri) : error;
  };
}

function notFound(uri: string): CarrelError {
  return new CarrelError('resource_not_found', 'No document has this URI.', { data: { uri } });
}

/** Makes the documents and notes of the knowledge base citable. Each chunk is a passage. */
export function createCitableDocuments(engine: Pick<Engine, 'document'>): CitableTexts {
  return {
    uriPrefixes: [documentUriPrefix],
    async read(uri, { signal }) {
      const id = idIn(uri);
      const document = id === undefined ? undefined : await orUndefined(engine.document(id, { signal }));
      if (document === undefined) return undefined;
      const { content_hash: hash, truncated } = document;
      const chunks = [...document.chunks];
      for await (const part of partsAfter(engine, document, { signal })) chunks.push(...part.chunks);
      return { hash: hash ?? hashOf(chunks), passages: chunks.map(passageOf), isTruncated: truncated !== undefined };
    },
  };
}

function passageOf({
  text,
  chunk_index: index,
  chunk_metadata: { page, section_header: section },
}: EngineChunk): CitablePassage {
  return {
    text,
    place: {
      chunk_index: index,
      ...(page === undefined ? {} : { page }),
      ...(section === undefined ? {} : { section }),
    },
  };
}

/** Computes a hash, for engines that report none. */
function hashOf(chunks: readonly EngineChunk[]): string {
  const hash = createHash('sha256');
  for (const { text } of chunks) hash.update(text).update('\0');
  return hash.digest('hex');
}

async function orUndefined<Result>(document: Promise<Result>): Promise<Result | undefined> {
  try {
    return await document;
  } catch (error) {
    if (isCarrelError(error) && error.code === 'document_not_found') return undefined;
    throw error;
  }
}
