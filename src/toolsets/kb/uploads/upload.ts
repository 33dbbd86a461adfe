import { CarrelError } from '../../../base/errors.ts';
import { createSlots, type Slots } from '../../../base/slots.ts';
import type { Call } from '../../../tools/call.ts';
import type { Manifest } from './staging.ts';

/** The state of an upload in this process. */
export interface Upload {
  manifest: Manifest;
  /** Sizes in bytes, by chunk_index. */
  chunks: Map<number, number>;
  receivedBytes: number;
  /** Allows one change at a time. */
  lock: Slots;
  /** Number of calls that are using the upload. It expires only if there are none. */
  users: number;
  /** True while bytes arrive at upload_url. */
  isReceiving: boolean;
  /** Time of last use, by the monotonic clock. */
  usedAt: number;
}

const waitingMax = 256;
const listedChunksMax = 20;

export function createUpload(manifest: Manifest, chunks: Map<number, number>, now: number): Upload {
  return {
    manifest,
    chunks,
    receivedBytes: [...chunks.values()].reduce((sum, size) => sum + size, 0),
    lock: createSlots({ runningMax: 1, waitingMax }),
    users: 0,
    isReceiving: false,
    usedAt: now,
  };
}

/** Returns the indexes of the chunks in order. Throws if chunks or bytes are missing. */
export function completeChunks({ chunks, receivedBytes, manifest: { totalSize } }: Upload): number[] {
  const indexes = [...chunks.keys()].sort((a, b) => a - b);
  const missing = missingIndexes(indexes);
  if (missing.length === 0 && receivedBytes === totalSize) return indexes;
  const shown = missing.slice(0, listedChunksMax);
  const more = missing.length > listedChunksMax ? ` and ${missing.length - listedChunksMax} more` : '';
  const problem =
    missing.length > 0
      ? `Chunks are missing: ${shown.join(', ')}${more}`
      : `All chunks from index ${indexes.length} are missing`;
  // If all bytes have arrived, there are none left for the missing chunks.
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
function missingIndexes(sorted: readonly number[]): number[] {
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

/** Limits on unfinished uploads. */
export interface UploadQuotas {
  clientUploadsMax: number;
  clientBytesMax: number;
  uploadsMax: number;
  stagingBytesMax: number;
}

const retryAfterSeconds = 60;

/** Throws if a new upload would exceed the limits of its client or of all clients. */
export function checkQuotas(
  quotas: UploadQuotas,
  open: readonly Upload[],
  { totalSize, callerId }: { totalSize: number; callerId: string },
): void {
  const callerUploads = open.filter(({ manifest }) => manifest.caller === callerId);
  if (callerUploads.length >= quotas.clientUploadsMax) {
    throw quotaError(`You have ${callerUploads.length} unfinished uploads, the maximum per client.`);
  }
  if (bytesOf(callerUploads) + totalSize > quotas.clientBytesMax) {
    throw quotaError(`Your unfinished uploads would exceed ${quotas.clientBytesMax} bytes.`);
  }
  if (open.length >= quotas.uploadsMax || bytesOf(open) + totalSize > quotas.stagingBytesMax) {
    throw quotaError('The server has too many unfinished uploads.');
  }
}

/** Returns the sum of the declared sizes. */
function bytesOf(uploads: readonly Upload[]): number {
  return uploads.reduce((sum, { manifest }) => sum + manifest.totalSize, 0);
}

function quotaError(problem: string): CarrelError {
  const message = `${problem} Finish one, or wait until idle ones expire.`;
  return new CarrelError('upload_quota', message, { retryAfterSeconds });
}

/** Passes the content through. Throws if it has more or fewer bytes than `size`. */
export async function* requireSize(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const part of content) {
    received += part.length;
    if (received > size) throw tooManyBytes(received, size);
    yield part;
  }
  if (received < size) {
    throw new CarrelError(
      'upload_incomplete',
      `${received} bytes arrived, but total_size is ${size}. Send all of them.`,
      {
        data: { received_bytes: received, total_size: size },
      },
    );
  }
}

/** Passes the content through and reports progress. */
export async function* withProgress(
  content: AsyncIterable<Uint8Array>,
  total: number,
  call: Pick<Call, 'report'>,
): AsyncGenerator<Uint8Array> {
  let progress = 0;
  for await (const part of content) {
    yield part;
    progress += part.length;
    call.report({ progress, total, message: 'bytes sent to the engine' });
  }
}

export function tooManyBytes(bytes: number, totalSize: number): CarrelError {
  return new CarrelError(
    'upload_too_large',
    `total_size is ${totalSize}, but there are ${bytes} bytes. Start again with kb_upload_start and the right total_size.`,
    {
      data: { received_bytes: bytes, total_size: totalSize },
    },
  );
}
