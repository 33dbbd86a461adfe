import { hash } from 'node:crypto';

/** Returns the SHA-256 of the UTF-8 text in hex. It is the `hash` of search hits, which the tool `verify` takes. */
export function textHash(text: string): string {
  return hash('sha256', text);
}

/** Hashes a set of ids. Their order doesn't matter. */
export function idsHash(ids: readonly number[]): string {
  return textHash(ids.toSorted((a, b) => a - b).join());
}
