import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError, systemCode } from '../../base/errors.ts';
import type { Engine, EngineJob, JobId, SubmitOutcome, Truncation } from '../../engine/engine.ts';
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
  /** The document that this file was before it changed. */
  readonly replaces?: number | undefined;
  onAccepted?(job: JobId): void;
}

/** Between two looks at a job: soon at first, for small files, then less often. */
const lookMinMs = 50;
const lookMaxMs = 1000;

/** How long the engine may be unreachable while we wait for a job. */
const awayMaxMs = 60_000;

/**
 * Gives one file to the engine and waits until it is searchable or was refused. Throws when the engine is gone or the
 * signal aborts; a file that was accepted by then is still ingested.
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
    return failed(reading.failure() ?? error, options.signal);
  }
  if (!outcome.accepted) return { outcome: 'duplicate', answer: outcome, hash: reading.hash() };
  options.onAccepted?.(outcome.job_id);
  const job = await waitForJob(engine, outcome.job_id, options.signal);
  if (job.status !== 'done') return { outcome: 'failed', error: job.error ?? `The job was ${job.status}.` };
  const { document_id: documentId, chunk_count: chunks, truncated } = job;
  return { outcome: 'added', documentId, chunks, truncated, hash: reading.hash() };
}

/** A fault of this file alone is reported and the next one tried; any other ends the run. */
function failed(error: unknown, signal: AbortSignal): FileOutcome {
  signal.throwIfAborted();
  if (isUnreadable(error)) return { outcome: 'failed', error: 'The file cannot be read. Check its permissions.' };
  if (isCarrelError(error) && ['input', 'limit', 'not_found'].includes(error.kind)) {
    return { outcome: 'failed', error: error.message };
  }
  throw error;
}

/** Until it has ended, one way or the other. The engine may be unreachable for a while. */
export async function waitForJob(engine: Engine, id: JobId, signal: AbortSignal): Promise<EngineJob> {
  let lookMs = lookMinMs;
  let seenAt = performance.now();
  for (;;) {
    try {
      const job = await engine.job(id, { signal });
      if (['done', 'failed', 'cancelled'].includes(job.status)) return job;
      seenAt = performance.now();
    } catch (error) {
      if (!isAway(error) || performance.now() - seenAt > awayMaxMs) throw error;
    }
    await delay(lookMs, undefined, { signal });
    lookMs = Math.min(lookMaxMs, lookMs * 1.5);
  }
}

/** The bytes, and their size and hash once they were read. A link that has replaced the file is not followed. */
export function readOnce(file: FoundFile) {
  const hash = createHash('sha256');
  let failure: unknown;
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      const handle = await open(file.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
      try {
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

export async function hashFile(file: FoundFile): Promise<string | undefined> {
  const reading = readOnce(file);
  try {
    for await (const _ of reading.content);
    return reading.hash();
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

function isUnreadable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'EIO', 'EISDIR'].includes(systemCode(error) ?? '');
}

/** Whether the same call may succeed later: the engine is unavailable, not refusing. */
export function isAway(error: unknown): boolean {
  if (!isCarrelError(error)) return false;
  return error.kind === 'upstream' || error.kind === 'timeout' || error.code === 'storage_busy';
}
