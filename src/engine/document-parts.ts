import { CarrelError } from '../base/errors.ts';
import type { DocumentCall, Engine, EngineChunk, EngineDocumentWithChunks } from './engine.ts';

/** Returns the index after the last of these chunks, or `first` if there are none. */
export function nextChunk(chunks: readonly Pick<EngineChunk, 'chunk_index'>[], first: number): number {
  const last = chunks.at(-1);
  return last === undefined ? first : last.chunk_index + 1;
}

/** Reads the parts of a document after `part`. Throws if the document changes meanwhile, because the parts would not match. */
export async function* partsAfter(
  engine: Pick<Engine, 'document'>,
  part: EngineDocumentWithChunks,
  options: DocumentCall,
): AsyncGenerator<EngineDocumentWithChunks> {
  for (let last = part; last.chunks_left !== undefined && last.chunks.length > 0; ) {
    const next = await engine.document(part.id, { ...options, first_chunk: nextChunk(last.chunks, 0) });
    if (next.content_hash !== part.content_hash) {
      throw new CarrelError('content_changed', 'The document was changed while it was read. Try again.');
    }
    yield next;
    last = next;
  }
}
