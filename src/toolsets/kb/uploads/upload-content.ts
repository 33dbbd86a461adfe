import { CarrelError } from '../../../base/errors.ts';
import type { Call } from '../../../tools/call.ts';

/** The content, if it has exactly as many bytes as announced. */
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
      `${received} bytes arrived, and total_size is ${size}. Send all of them.`,
      {
        data: { received_bytes: received, total_size: size },
      },
    );
  }
}

/** Reports how much of it was read. */
export async function* reported(
  content: AsyncIterable<Uint8Array>,
  total: number,
  call: Pick<Call, 'report'>,
): AsyncGenerator<Uint8Array> {
  let progress = 0;
  for await (const part of content) {
    yield part;
    progress += part.length;
    call.report({ progress, total, message: 'bytes handed to the engine' });
  }
}

export function tooManyBytes(bytes: number, totalSize: number): CarrelError {
  return new CarrelError('upload_too_large', `That makes ${bytes} bytes, and total_size is ${totalSize}.`, {
    data: { received_bytes: bytes, total_size: totalSize },
  });
}
