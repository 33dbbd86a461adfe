import { CarrelError } from '../../../base/errors.ts';
import type { Call } from '../../../tools/call.ts';

/** Passes the content through. Throws if it has more or fewer bytes than `size`. */
export async function* exactly(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
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
export async function* reported(
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
