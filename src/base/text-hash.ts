import { hash } from 'node:crypto';

/** SHA-256 of a text in UTF-8, in hexadecimal digits: what hits and `verify` call its hash. */
export function textHash(text: string): string {
  return hash('sha256', text);
}

/** The same for the same ids, in whatever order. */
export function idsHash(ids: readonly number[]): string {
  return textHash(ids.toSorted((a, b) => a - b).join());
}
