import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Of this process alone, until it shares one: then what one process has signed is accepted by the others. */
let key: Uint8Array = randomBytes(32);

export function useSigningKey(shared: Uint8Array): void {
  key = shared;
}

/** What is signed for one purpose is worth nothing for another. */
export function sign(purpose: string, text: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([purpose, text]))
    .digest();
}

export function isSigned(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
