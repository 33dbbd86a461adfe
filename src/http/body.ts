import type { IncomingMessage } from 'node:http';

export type BodyOutcome = { ok: true; bytes: Buffer } | { ok: false; status: 400 | 413; problem: string };

/** Reads a whole body and stops as soon as it exceeds the limit. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<BodyOutcome> {
  const problem = `The body is larger than ${bytesMax} bytes. Send less.`;
  const tooLarge: BodyOutcome = { ok: false, status: 413, problem };
  if (Number(request.headers['content-length']) > bytesMax) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > bytesMax) {
        request.pause();
        request.removeAllListeners('data');
        resolve(tooLarge);
      } else {
        parts.push(part);
      }
    });
    request.on('end', () =>
      resolve({ ok: true, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) }),
    );
    const broken = (): void =>
      resolve({ ok: false, status: 400, problem: 'The body ended before it was complete. Send it again.' });
    request.on('error', broken);
    request.on('close', broken);
  });
}

/** Message for a body with a content encoding, which is rejected with 415 (RFC 9110 §15.5.16). */
export const encodedProblem = 'The body must not be compressed: send it again without Content-Encoding.';

export function isEncoded(request: IncomingMessage): boolean {
  return !/^(?:identity)?$/i.test((request.headers['content-encoding'] ?? '').trim());
}

/** True if the content type is exactly JSON in UTF-8. A more lenient check could accept a form sent by another web site. */
export function isJsonBody(request: IncomingMessage): boolean {
  return /^application\/json(?:; ?charset=(?:utf-8|"utf-8"))?$/i.test(request.headers['content-type'] ?? '');
}
