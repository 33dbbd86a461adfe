import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What the settings were read from, as it was then. A process that runs for long learns here that it is outdated. */
const consulted = new Map<string, string>();

/** `content` is undefined where there was no such file. */
export function noteConsulted(path: string, content: string | undefined): void {
  consulted.set(path, fingerprint(content));
}

export function consultedFilesChanged(): boolean {
  return [...consulted].some(([path, before]) => fingerprint(readIfThere(path)) !== before);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Not the content itself, which may hold secrets. */
function fingerprint(content: string | undefined): string {
  return content === undefined ? 'absent' : createHash('sha256').update(content).digest('hex');
}
