import { readFileSync } from 'node:fs';

/** The program's picture as an address that holds it, for those who show the program beside others. */
export function iconAddress(): string {
  return `data:image/svg+xml;base64,${readFileSync(new URL('./assets/icon.svg', import.meta.url)).toString('base64')}`;
}
