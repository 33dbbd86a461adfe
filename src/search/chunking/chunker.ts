import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { NewChunk } from '../../storage/documents/write-chunks.ts';
import { positionedChunks, type TextToChunk } from './positioned-chunks.ts';

export type Chunker = ReturnType<typeof createChunker>;

/** Max length of texts that are chunked on the calling thread, in a millisecond or two. */
const shortUnits = 20_000;

/** Min length of texts that get their own thread. Ending the thread frees its memory. */
const longUnits = 1_000_000;

/** Chunks long texts on a thread that starts on demand and does not keep the process alive. */
export function createChunker() {
  let thread: ChunkThread | undefined;
  return {
    async chunk(text: TextToChunk, signal?: AbortSignal): Promise<readonly NewChunk[]> {
      signal?.throwIfAborted();
      if (text.text.length <= shortUnits) return positionedChunks(text);
      if (text.text.length > longUnits) return chunkAlone(text, signal);
      if (!thread?.alive) thread = startThread();
      return thread.call(text, signal);
    },
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}

type ChunkThread = Calls<TextToChunk, readonly NewChunk[]>;

function startThread(): ChunkThread {
  return createWorkerCalls({ from: import.meta.url, file: 'chunk-worker', name: 'carrel-chunks', exitError });
}

/** Chunks a text on its own thread. */
async function chunkAlone(text: TextToChunk, signal: AbortSignal | undefined): Promise<readonly NewChunk[]> {
  const thread = startThread();
  try {
    return await thread.call(text, signal);
  } finally {
    await thread.terminate();
  }
}

function exitError(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be split into chunks.', { cause });
}
