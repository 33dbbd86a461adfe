import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CarrelError } from '../../../base/errors.ts';

/**
 * Writes a file that is there whole or not at all, also after a power cut: into a file of another name, which takes the
 * real one when its bytes are on disk. Gives the number of bytes.
 */
export async function writeDurably(path: string, content: AsyncIterable<Uint8Array> | Uint8Array): Promise<number> {
  const part = `${path}.${randomUUID()}.part`;
  let written = 0;
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      for await (const bytes of content instanceof Uint8Array ? [content] : content) {
        await writeAll(file, bytes);
        written += bytes.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(part, { force: true });
    throw explain(error);
  }
  return written;
}

/** A write may take only some of the bytes, and says so. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset);
    offset += bytesWritten;
  }
}

/** A name in a folder is on disk when the folder is. Windows has no such call, and needs none. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function explain(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['ENOSPC', 'EDQUOT'].includes(code)) {
    const message =
      'The disk is full. What was stored before is kept; the operator must make room, then repeat the call.';
    return new CarrelError('storage_full', message, { cause: error });
  }
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    const message = 'The data folder cannot be written. The operator must allow it, then repeat the call.';
    return new CarrelError('storage_read_only', message, { cause: error });
  }
  return error;
}
