import { CarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { NewChunk } from '../../storage/documents/write-chunks.ts';
import { positionedChunks, type TextToChunk } from './positioned-chunks.ts';

export interface Chunker {
  chunk(given: TextToChunk, signal?: AbortSignal): Promise<readonly NewChunk[]>;
  close(): Promise<void>;
}

/** Max length of texts that are chunked on this thread: they take a millisecond or two. */
const shortUnits = 20_000;

/** Texts longer than this get a thread of their own. It ends when the text is done, which frees its memory. */
const longUnits = 1_000_000;

/** Chunks long texts on a thread that starts on demand and does not keep the process alive. */
export function createChunker(): Chunker {
  let thread: ChunkThread | undefined;
  return {
    async chunk(given, signal) {
      signal?.throwIfAborted();
      if (given.text.length <= shortUnits) return positionedChunks(given);
      if (given.text.length > longUnits) return chunkAlone(given, signal);
      if (!thread?.alive) thread = startThread();
      return thread.call(given, signal);
    },
    async close() {
      await thread?.terminate();
    },
  };
}

type ChunkThread = Calls<TextToChunk, readonly NewChunk[]>;

function startThread(): ChunkThread {
  return createWorkerCalls({
    from: import.meta.url,
    file: 'chunk-worker',
    name: 'carrel-chunks',
    exitError,
  });
}

async function chunkAlone(given: TextToChunk, signal: AbortSignal | undefined): Promise<readonly NewChunk[]> {
  const thread = startThread();
  try {
    return await thread.call(given, signal);
  } finally {
    await thread.terminate();
  }
}

function exitError(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be split into chunks.', { cause });
}
