import { CarrelError } from '../../../base/errors.ts';
import type { Upload } from './upload.ts';

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
  const own = open.filter(({ manifest }) => manifest.caller === callerId);
  if (own.length >= quotas.clientUploadsMax) {
    throw refusal(`You have ${own.length} unfinished uploads, the maximum per client.`);
  }
  if (bytesOf(own) + totalSize > quotas.clientBytesMax) {
    throw refusal(`Your unfinished uploads would exceed ${quotas.clientBytesMax} bytes.`);
  }
  if (open.length >= quotas.uploadsMax || bytesOf(open) + totalSize > quotas.stagingBytesMax) {
    throw refusal('The server has too many unfinished uploads.');
  }
}

/** Sums up the declared sizes, whether or not the bytes have arrived. */
function bytesOf(uploads: readonly Upload[]): number {
  return uploads.reduce((sum, { manifest }) => sum + manifest.totalSize, 0);
}

function refusal(problem: string): CarrelError {
  const message = `${problem} Finish one, or wait until idle ones expire.`;
  return new CarrelError('upload_quota', message, { retryAfterSeconds });
}
