import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, sep } from 'node:path';
import { CarrelError } from '../../../base/errors.ts';

export interface LocalFile {
  filename: string;
  size: number;
  content: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * A regular file below one of the allowed folders. Links are resolved first, and their target must be below one, too. The
 * path is checked again after the file is open, so that a link that was put there in the meantime is noticed.
 */
export async function openLocalFile(path: string, allowedRoots: readonly string[]): Promise<LocalFile> {
  if (!isAbsolute(path) || path.includes('\0')) throw notAllowed('path must be absolute.');
  const real = await resolveInside(path, allowedRoots);
  // A named pipe would otherwise wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((error: unknown) => {
    throw notAllowed('The file cannot be read.', error);
  });
  try {
    const opened = await file.stat();
    const again = await stat(await resolveInside(path, allowedRoots));
    if (opened.ino !== again.ino || opened.dev !== again.dev) throw notAllowed('The file changed while it was opened.');
    if (!opened.isFile()) throw notAllowed('Only regular files can be uploaded.');
    return {
      filename: basename(real),
      size: opened.size,
      content: readExactly(file, opened.size),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function resolveInside(path: string, allowedRoots: readonly string[]): Promise<string> {
  const real = await realpath(path).catch((error: unknown) => {
    throw notAllowed('There is no such file below the allowed folders.', error);
  });
  for (const root of allowedRoots) {
    const folder = await realpath(root).catch(() => undefined);
    if (folder !== undefined && real.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return real;
  }
  // The same message as for a missing file, so that nothing is revealed about other folders.
  throw notAllowed('There is no such file below the allowed folders.');
}

async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const part of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    read += part.length;
    if (read > size) break;
    yield part;
  }
  if (read !== size) {
    throw new CarrelError(
      'upload_conflict',
      'The file changed while it was read. Try again when it is no longer being written.',
    );
  }
}

function notAllowed(message: string, cause?: unknown): CarrelError {
  return new CarrelError('path_not_allowed', message, { cause });
}
