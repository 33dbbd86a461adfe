import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A random key of this process, until a shared key replaces it. Processes with the same key accept each other's signatures. */
let key: Uint8Array = randomBytes(32);

export function useSigningKey(shared: Uint8Array): void {
  key = shared;
}

/** Signs a text. A signature for one purpose is invalid for any other. */
export function sign(purpose: string, text: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([purpose, text]))
    .digest();
}

export function isSigned(actual: Buffer, expected: Buffer): boolean {
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
