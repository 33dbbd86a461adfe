import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { CarrelError, isCarrelError, systemCode } from '../../base/errors.ts';
import type { Engine, JobId, SubmitOutcome, Truncation } from '../../engine/engine.ts';
import { waitForJob } from '../../engine/wait-for-job.ts';
import type { FoundFile } from './find-files.ts';

export interface AddedFile {
  readonly outcome: 'added';
  readonly documentId: number | null;
  readonly chunks: number | null;
  readonly truncated: Truncation | undefined;
  /** SHA-256 of the bytes that were sent. */
  readonly hash: string;
}

export type FileOutcome =
  | AddedFile
  | { readonly outcome: 'duplicate'; readonly answer: SubmitOutcome & { accepted: false }; readonly hash: string }
  | { readonly outcome: 'failed'; readonly error: string };

export interface AddOptions {
  readonly tags: readonly string[];
  readonly signal: AbortSignal;
  /** The document with the file's previous content. */
  readonly replaces?: number | undefined;
  onAccepted?(job: JobId): void;
}

/**
 * Submits one file and waits until it is searchable or rejected. Throws if the engine is unreachable or the signal aborts. A file
 * that the engine has accepted is ingested anyway.
 */
export async function addFile(engine: Engine, file: FoundFile, options: AddOptions): Promise<FileOutcome> {
  const reading = readOnce(file);
  let outcome: SubmitOutcome;
  try {
    outcome = await engine.submit(
      {
        filename: basename(file.path),
        content: reading.content,
        size: file.size,
        tags: options.tags,
        source_path: file.path,
        replaces: options.replaces,
      },
      { signal: options.signal },
    );
  } catch (error) {
    return failedOutcome(reading.failure() ?? error, options.signal);
  }
  if (!outcome.accepted) return { outcome: 'duplicate', answer: outcome, hash: reading.hash() };
  options.onAccepted?.(outcome.job_id);
  const job = await waitForJob(engine, outcome.job_id, options.signal);
  if (job.status !== 'done') return { outcome: 'failed', error: job.error ?? `The job was ${job.status}.` };
  const { document_id: documentId, chunk_count: chunks, truncated } = job;
  return { outcome: 'added', documentId, chunks, truncated, hash: reading.hash() };
}

/** Returns a problem with this file, so that the run continues. Throws any other error, which ends the run. */
function failedOutcome(error: unknown, signal: AbortSignal): FileOutcome {
  signal.throwIfAborted();
  if (isUnreadable(error)) return { outcome: 'failed', error: 'The file cannot be read. Check its permissions.' };
  if (isCarrelError(error) && ['input', 'limit', 'not_found'].includes(error.kind)) {
    return { outcome: 'failed', error: error.message };
  }
  throw error;
}

/** Returns the bytes of a file and, once they are read, their hash. A symlink that replaced the file is not followed. */
export function readOnce(file: FoundFile) {
  const hash = createHash('sha256');
  let failure: unknown;
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      // Without O_NONBLOCK, opening a named pipe would block until somebody writes to it.
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      const handle = await open(file.path, flags);
      try {
        if (!(await isSameFile(handle, file))) throw replacedError();
        for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 })) {
          hash.update(chunk);
          yield chunk;
        }
      } finally {
        await handle.close();
      }
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return { content: content(), hash: () => hash.copy().digest('hex'), failure: () => failure };
}

/** False if the file or one of its folders was replaced since it was found. */
async function isSameFile(handle: FileHandle, { path, inode, device }: FoundFile): Promise<boolean> {
  const opened = await handle.stat();
  if (!opened.isFile() || opened.ino !== inode || opened.dev !== device) return false;
  // Linux reports the path of the open file. On other systems, the path is resolved again.
  return path === (await readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(path)));
}

function isReplaced(error: unknown): boolean {
  return isCarrelError(error) && error.code === 'upload_conflict';
}

function replacedError(): CarrelError {
  return new CarrelError('upload_conflict', 'The file was replaced while it was being added. Add it again.');
}

export async function hashFile(file: FoundFile): Promise<string | undefined> {
  const reading = readOnce(file);
  try {
    for await (const _ of reading.content);
    return reading.hash();
  } catch (error) {
    if (isUnreadable(error) || isReplaced(error)) return undefined;
    throw error;
  }
}

function isUnreadable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'EIO', 'EISDIR', 'ENXIO'].includes(systemCode(error) ?? '');
}
