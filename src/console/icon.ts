import { readFileSync } from 'node:fs';

/** Returns the program's icon as a data URL, for clients that list servers. */
export function iconAddress(): string {
  return `data:image/svg+xml;base64,${readFileSync(new URL('./assets/icon.svg', import.meta.url)).toString('base64')}`;
}
