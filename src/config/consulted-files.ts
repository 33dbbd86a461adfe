import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Fingerprints of the files that settings came from. A long-running process uses them to detect that its settings are outdated. */
const consulted = new Map<string, string>();

/** Records a file that was read for settings. `content` is undefined if the file does not exist. */
export function recordConsulted(path: string, content: string | undefined): void {
  consulted.set(path, fingerprint(content));
}

export function consultedFilesChanged(): boolean {
  return [...consulted].some(([path, recorded]) => fingerprint(readIfExists(path)) !== recorded);
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a hash, because the content may contain secrets. */
function fingerprint(content: string | undefined): string {
  return content === undefined ? 'absent' : createHash('sha256').update(content).digest('hex');
}
