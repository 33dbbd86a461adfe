import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CarrelError, systemCode } from './errors.ts';

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Uint8Array;

/**
 * Writes and syncs a new file, readable by its owner only, and returns its size. A failed write removes it. The caller must
 * sync the folder.
 */
export async function writeNewFile(path: string, content: Bytes): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let written = 0;
    for await (const bytes of content instanceof Uint8Array ? [content] : content) {
      await writeAll(file, bytes);
      written += bytes.length;
    }
    await file.sync();
    await file.close();
    return written;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/** Writes a file completely or not at all, even across a power cut. Returns its size. */
export async function replaceFile(path: string, content: Bytes): Promise<number> {
  const temporary = `${path}.${randomUUID()}.part`;
  const written = await writeNewFile(temporary, content);
  try {
    await moveFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return written;
}

/** Renames a file, durably. Both paths must be in the same file system. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

export function moveFileSync(from: string, to: string): void {
  renameSync(from, to);
  syncFolderSync(dirname(to));
}

/** Syncs a folder, so that new files in it survive a power cut. Windows has no such call and needs none. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function syncFolderSync(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Turns a failed write's system error into an error that says what to do. */
export function diskError(error: unknown): unknown {
  const code = systemCode(error) ?? '';
  // EFBIG: a file size limit was reached. Error -122 is a full quota (EDQUOT) on Linux, for which Node has no name.
  if (['ENOSPC', 'EDQUOT', 'EFBIG', 'Unknown system error -122'].includes(code)) {
    const message = 'The disk is full; nothing was saved. Free some space and try again.';
    return new CarrelError('storage_full', message, { cause: error });
  }
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    const message = 'The data folder is not writable. Check its permissions, then try again.';
    return new CarrelError('storage_read_only', message, { cause: error });
  }
  if (['EMFILE', 'ENFILE'].includes(code)) {
    const message = 'Too many files are open; nothing was saved. Try again, or raise the limit (ulimit -n).';
    return new CarrelError('unavailable', message, { cause: error, retryAfterSeconds: 1 });
  }
  if (['EIO', 'ENXIO', 'ENODEV', 'ESTALE', 'ETIMEDOUT', 'EUCLEAN'].includes(code)) {
    const message = 'The disk of the data folder is failing; nothing was saved. Check the disk, then try again.';
    return new CarrelError('unavailable', message, { cause: error });
  }
  return error;
}

/** Writes all bytes. A single write may be partial. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset);
    offset += bytesWritten;
  }
}
