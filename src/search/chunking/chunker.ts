import { Worker } from 'node:worker_threads';
import { CarrelError } from '../../base/errors.ts';
import type { NewChunk } from '../../storage/contracts/documents.ts';
import type { ChunkCall, ChunkReply } from './chunk-worker.ts';
import { placedChunks, type TextToChunk } from './placed-chunks.ts';

export interface Chunker {
  chunk(given: TextToChunk, signal?: AbortSignal): Promise<readonly NewChunk[]>;
  close(): Promise<void>;
}

/** Cut in a millisecond or two: not worth the way to another thread. */
const shortUnits = 20_000;

interface Waiting {
  resolve(chunks: readonly NewChunk[]): void;
  reject(error: unknown): void;
}

/** Cuts long texts on a thread that starts with the first of them and does not keep the process alive. */
export function createChunker(): Chunker {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  return {
    async chunk(given, signal) {
      signal?.throwIfAborted();
      if (given.text.length <= shortUnits) return placedChunks(given);
      worker ??= start();
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<readonly NewChunk[]>();
      waiting.set(id, { resolve, reject });
      const abandon = () => settle(id, (call) => call.reject(signal?.reason));
      signal?.addEventListener('abort', abandon, { once: true });
      worker.ref();
      worker.postMessage({ id, ...given } satisfies ChunkCall);
      return promise.finally(() => signal?.removeEventListener('abort', abandon));
    },
    async close() {
      await worker?.terminate();
    },
  };

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './chunk-worker.ts' : './chunk-worker.js';
    const started = new Worker(new URL(file, import.meta.url), { execArgv: [], name: 'carrel-chunks' });
    started.on('message', (reply: ChunkReply) =>
      settle(reply.id, (call) => {
        if ('chunks' in reply) call.resolve(reply.chunks);
        else call.reject(lost(reply.failure));
      }),
    );
    let failure: unknown;
    started.on('error', (error) => {
      failure = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const id of [...waiting.keys()]) settle(id, (call) => call.reject(lost(failure)));
    });
    return started;
  }

  function settle(id: number, tell: (call: Waiting) => void): void {
    const call = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker?.unref();
    if (call) tell(call);
  }
}

function lost(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be cut into passages.', { cause });
}
