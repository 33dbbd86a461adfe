import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Private to this process until a shared key replaces it. Then the processes accept each other's signatures. */
let key: Uint8Array = randomBytes(32);

export function useSigningKey(shared: Uint8Array): void {
  key = shared;
}

/** A signature for one purpose is invalid for any other. */
export function sign(purpose: string, text: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([purpose, text]))
    .digest();
}

export function isSigned(actual: Buffer, expected: Buffer): boolean {
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
