import { CarrelError } from '../../../base/errors.ts';
import type { Upload } from './upload.ts';

/** How much may be unfinished at the same time. */
export interface UploadQuotas {
  clientUploadsMax: number;
  clientBytesMax: number;
  uploadsMax: number;
  stagingBytesMax: number;
}

const retryAfterSeconds = 60;

/** Refuses another upload if the client, or all clients together, would exceed a limit. */
export function checkQuotas(
  quotas: UploadQuotas,
  open: readonly Upload[],
  { totalSize, callerId }: { totalSize: number; callerId: string },
): void {
  const own = open.filter(({ manifest }) => manifest.caller === callerId);
  if (own.length >= quotas.clientUploadsMax) {
    throw refusal(`You have ${own.length} unfinished uploads, which is as many as one client may have.`);
  }
  if (bytesOf(own) + totalSize > quotas.clientBytesMax) {
    throw refusal(`Your unfinished uploads would have more than ${quotas.clientBytesMax} bytes together.`);
  }
  if (open.length >= quotas.uploadsMax || bytesOf(open) + totalSize > quotas.stagingBytesMax) {
    throw refusal('There is no room for another upload at the moment.');
  }
}

/** Announced bytes count like received ones. */
function bytesOf(uploads: readonly Upload[]): number {
  return uploads.reduce((sum, { manifest }) => sum + manifest.totalSize, 0);
}

function refusal(problem: string): CarrelError {
  const message = `${problem} Finish one, or wait until idle ones are removed.`;
  return new CarrelError('upload_quota', message, { retryAfterSeconds });
}
