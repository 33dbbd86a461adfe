import { createHash } from 'node:crypto';
import { isCarrelError } from '../../../base/errors.ts';
import { partsAfter } from '../../../engine/document-parts.ts';
import type { Engine, EngineChunk } from '../../../engine/engine.ts';
import type { CitablePassage, CitableTexts } from '../../../tools/citable-texts.ts';
import { documentUriPrefix } from './shapes.ts';

/** Makes the documents and notes of the knowledge base citable. Each chunk is a passage. */
export function createCitableDocuments(engine: Pick<Engine, 'document'>): CitableTexts {
  return {
    uriPrefixes: [documentUriPrefix],
    async read(uri, { signal }) {
      const id = /^[1-9]\d{0,14}$/.exec(uri.slice(documentUriPrefix.length))?.[0];
      const document = id === undefined ? undefined : await orUndefined(engine.document(Number(id), { signal }));
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
