import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { NewChunk } from '../../storage/contracts/documents.ts';
import { placedChunks, type TextToChunk } from './placed-chunks.ts';

export interface Chunker {
  chunk(given: TextToChunk, signal?: AbortSignal): Promise<readonly NewChunk[]>;
  close(): Promise<void>;
}

/** Texts up to this length are chunked in a millisecond or two: not worth a thread. */
const shortUnits = 20_000;

/** Chunks long texts on a thread that starts with the first of them and does not keep the process alive. */
export function createChunker(): Chunker {
  let thread: Calls<TextToChunk, readonly NewChunk[]> | undefined;
  return {
    async chunk(given, signal) {
      signal?.throwIfAborted();
      if (given.text.length <= shortUnits) return placedChunks(given);
      if (!thread?.alive) {
        thread = createWorkerCalls({ from: import.meta.url, file: 'chunk-worker', name: 'carrel-chunks', lost });
      }
      return thread.call(given, signal);
    },
    async close() {
      await thread?.terminate();
    },
  };
}

function lost(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be split into chunks.', { cause });
}
