import { statSync } from 'node:fs';

/** True if a file's mode lets other users read it. Windows has no such mode. */
export function isReadableByOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o044) !== 0;
}

export function exposedWarning(path: string): string {
  return `${path} holds a secret and can be read by other users of this machine. Run chmod 600 ${path}`;
}
