import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import type { NewChunk } from '../../storage/contracts/documents.ts';
import { placedChunks, type TextToChunk } from './placed-chunks.ts';

/** A thread of its own, because a book takes longer than those who are being served can wait. */
export interface ChunkCall extends TextToChunk {
  readonly id: number;
}

export type ChunkReply =
  | { readonly id: number; readonly chunks: readonly NewChunk[] }
  | { readonly id: number; readonly failure: string };

assert(parentPort !== null, 'runs as a worker only');
const port = parentPort;

port.on('message', ({ id, ...given }: ChunkCall) => {
  port.postMessage(reply(id, given));
});

function reply(id: number, given: TextToChunk): ChunkReply {
  try {
    return { id, chunks: placedChunks(given) };
  } catch (error) {
    return { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
