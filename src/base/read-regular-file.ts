import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Without this flag, opening a named pipe would block. Windows lacks it and doesn't need it. */
const nonBlocking = constants.O_NONBLOCK ?? 0;

/**
 * Reads a small file whose name is untrusted. Opens it, then checks what was opened, so pipes and devices are never read.
 * Throws unless it is a regular file of at most `bytesMax` bytes.
 */
export function readRegularFile(path: string, bytesMax: number): string {
  const file = openSync(path, constants.O_RDONLY | nonBlocking);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error('not a regular file');
    if (stats.size > bytesMax) throw new Error(`larger than ${bytesMax} bytes`);
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
