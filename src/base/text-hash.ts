import { hash } from 'node:crypto';

/** SHA-256 of the UTF-8 text in hex: the `hash` of hits and `verify`. */
export function textHash(text: string): string {
  return hash('sha256', text);
}

/** Independent of the order of the ids. */
export function idsHash(ids: readonly number[]): string {
  return textHash(ids.toSorted((a, b) => a - b).join());
}
