import { CarrelError } from '../../../base/errors.ts';
import { createSlots, type Slots } from '../../../base/slots.ts';
import type { Manifest } from './staging.ts';

/** An upload as this process knows it. */
export interface Upload {
  manifest: Manifest;
  /** Sizes in bytes, by chunk_index. */
  chunks: Map<number, number>;
  receivedBytes: number;
  /** Lets one change run at a time. */
  turn: Slots;
  /** Number of calls that use the upload now. While there are any, it does not expire. */
  users: number;
  /** True while bytes arrive at upload_url. */
  isReceiving: boolean;
  /** Time of last use, by the monotonic clock. */
  usedAt: number;
}

const waitingMax = 256;
const namedMax = 20;

export function createUpload(manifest: Manifest, chunks: Map<number, number>, now: number): Upload {
  return {
    manifest,
    chunks,
    receivedBytes: [...chunks.values()].reduce((sum, size) => sum + size, 0),
    turn: createSlots({ runningMax: 1, waitingMax }),
    users: 0,
    isReceiving: false,
    usedAt: now,
  };
}

/** Returns the indexes of the chunks in order. Throws if chunks or bytes are missing. */
export function completeChunks({ chunks, receivedBytes, manifest: { totalSize } }: Upload): number[] {
  const indexes = [...chunks.keys()].sort((one, other) => one - other);
  const missing = missingIn(indexes);
  if (missing.length === 0 && receivedBytes === totalSize) return indexes;
  const shown = missing.slice(0, namedMax);
  const more = missing.length > namedMax ? ` and ${missing.length - namedMax} more` : '';
  const problem =
    missing.length > 0
      ? `Chunks are missing: ${shown.join(', ')}${more}`
      : `All chunks from index ${indexes.length} are missing`;
  // If all bytes are there but an index is missing, no bytes are left for that chunk.
  const advice =
    receivedBytes === totalSize
      ? 'chunk_index must count 0, 1, 2 and so on: start again with kb_upload_start.'
      : 'Send what is missing, then finish again.';
  throw new CarrelError(
    'upload_incomplete',
    `${problem}. ${receivedBytes} of ${totalSize} bytes have arrived. ${advice}`,
    {
      data: {
        missing_chunks: missing.length > 0 ? shown : [indexes.length],
        received_bytes: receivedBytes,
        total_size: totalSize,
      },
    },
  );
}

/** Returns the missing indexes below the highest one. */
function missingIn(sorted: readonly number[]): number[] {
  const present = new Set(sorted);
  return Array.from({ length: (sorted.at(-1) ?? -1) + 1 }, (_, index) => index).filter((index) => !present.has(index));
}

export function uploadNotFound(idleMs: number): CarrelError {
  return new CarrelError(
    'upload_not_found',
    `Upload not found: the id is unknown, or the upload expired after ${idleMs / 1000} idle seconds. Start again with kb_upload_start.`,
  );
}

export function isFinished({ manifest: { outcome } }: Upload): boolean {
  return outcome !== undefined;
}
