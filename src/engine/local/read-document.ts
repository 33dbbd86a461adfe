import { firstFitting, wireBytes } from '../../base/wire-bytes.ts';
import type { DocumentStore } from '../../storage/documents/document-stores.ts';
import { documentNotFound, invalidInput } from '../contract/validate-input.ts';
import { nextChunk } from '../document-parts.ts';
import type { DocumentCall, EngineDocumentWithChunks } from '../engine.ts';
import type { ChunkEmbedding } from './chunk-embedding.ts';
import { renderChunk, renderDocument } from './render.ts';

/** Default limit for a document with its chunks, in bytes of JSON. */
const defaultBytesMax = 4 * 1024 * 1024;

/** Bytes reserved for `chunks_left` and similar fields. */
const reservedBytes = 200;

/** Reads a document with as many chunks as fit, but at least one, so that every call makes progress. */
export async function readDocument(
  id: number,
  { first_chunk: from = 0, max_chunks: limit, bytesMax = defaultBytesMax, ...options }: DocumentCall = {},
  { documents, embedding }: { documents: DocumentStore; embedding: ChunkEmbedding },
): Promise<EngineDocumentWithChunks> {
  if (!Number.isSafeInteger(from)) throw invalidInput('first_chunk must be a whole number, 0 or more');
  const [document, pending] = await Promise.all([documents.get({ id }, options), embedding.pendingOf([id], options)]);
  if (document === undefined) throw documentNotFound(id);
  // A character takes at least a byte, so more characters than `bytesMax` never fit.
  const range = { document: id, from: Math.min(from, positionMax), limit, charsMax: bytesMax };
  // Read last, because concurrent calls would otherwise hold their chunks in memory while they wait for other reads.
  const stored = await documents.chunks(range, options);
  const rendered = renderDocument(document, pending.get(id));
  const chunkBytesMax = bytesMax - wireBytes(rendered, 1) - reservedBytes;
  const chunks = [...firstFitting(stored.map(renderChunk), 1, chunkBytesMax)];
  const left = document.chunkCount - nextChunk(chunks, from);
  return { ...rendered, chunks, ...(left > 0 ? { chunks_left: left } : {}) };
}

/** Max position of a chunk: the databases store positions in 32 bits. */
const positionMax = 2 ** 31 - 1;
