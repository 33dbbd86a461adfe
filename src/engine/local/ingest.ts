import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Slots } from '../../base/slots.ts';
import { isBlank } from '../../base/text.ts';
import type { ExtractedDocument } from '../../documents/document.ts';
import type { Extractor } from '../../documents/extractor.ts';
import type { Chunker } from '../../search/chunking/chunker.ts';
import type { TextToChunk } from '../../search/chunking/positioned-chunks.ts';
import type { ReadingBounds } from '../../storage/documents/accept-job.ts';
import type { ClaimedJob } from '../../storage/documents/job-queue.ts';
import type { PhaseProgress } from '../../storage/documents/jobs.ts';
import type { Storage } from '../../storage/storage.ts';
import { titleOfNote } from '../contract/validate-input.ts';

export interface IngestDeps {
  readonly storage: Storage;
  readonly extractor: Extractor;
  readonly chunker: Chunker;
  readonly log: Logger;
  readonly bounds: ReadingBounds;
  /** Admits one long text at a time: storing it takes several times its size in memory. */
  readonly longTexts: Slots;
}

/** Max CPU time of a quick job; see `IngestCall.isQuick`. */
const quickCpuMs = 5_000;

/** Min length of a long text, in UTF-16 units. */
const longTextUnits = 500_000;

export interface IngestCall {
  readonly owner: string;
  readonly signal: AbortSignal;
  /** True if the job was started early because its file is small. If it turns out to be slow, it is requeued. */
  readonly isQuick: boolean;
  report(progress: PhaseProgress): void;
}

/** Number of crashes while reading a file after which the job fails. */
const crashesMax = 100;

const delayMinMs = 1_000;
const delayMaxMs = 300_000;

/** Max retries after temporary errors, by code. Other errors are caused by the file and are not retried. */
const retriesMax: Readonly<Record<string, number>> = {
  unavailable: Number.POSITIVE_INFINITY,
  storage_busy: Number.POSITIVE_INFINITY,
  storage_full: Number.POSITIVE_INFINITY,
  storage_read_only: Number.POSITIVE_INFINITY,
  query_timeout: 5,
  extraction_timeout: 1,
  extraction_interrupted: 5,
  too_many_in_flight: Number.POSITIVE_INFINITY,
  internal: 2,
};

/**
 * Reads, extracts and chunks the file of a job, and stores the document in one transaction. Vectors follow in the background.
 * Afterwards the job has finished, failed or been requeued, unless another engine has taken it over.
 */
export async function ingest(job: ClaimedJob, call: IngestCall, deps: IngestDeps): Promise<void> {
  const { ingestion } = deps.storage;
  const lease = { id: job.id, owner: call.owner };
  let progress: PhaseProgress | undefined;
  let releaseSlot = (): void => {};
  const reserveSlot = async (units: number): Promise<void> => {
    if (units > longTextUnits) releaseSlot = await deps.longTexts.acquire(call.signal);
  };
  const tracked: IngestCall = {
    ...call,
    report(current) {
      progress = current;
      call.report(current);
    },
  };
  try {
    const finished = await ingestion.finish({ ...lease, ...(await prepare(job, tracked, deps, reserveSlot)) });
    // The bytes of a cancelled job or a duplicate are not needed.
    if (finished.outcome !== 'done') await deps.storage.originals.release([job.contentHash]);
    else if (finished.freed !== undefined) await deps.storage.originals.release([finished.freed]);
  } catch (thrown) {
    if (call.signal.aborted) return deps.storage.originals.release([job.contentHash]).then(() => {});
    const error = isCarrelError(thrown) ? thrown : unexpected(thrown, job, deps.log);
    if (call.isQuick && error.code === 'extraction_timeout') {
      const message = 'This file takes long to read and is queued with other large files.';
      await retryWhileUnavailable(() => ingestion.postpone({ ...lease, delayMs: 0, message }), call.signal);
      return;
    }
    if (job.retries < (retriesMax[error.code] ?? 0)) {
      const delayMs = Math.min(delayMaxMs, delayMinMs * 2 ** Math.min(job.retries, 20));
      const message = `${error.message} It will be retried.`;
      await retryWhileUnavailable(() => ingestion.postpone({ ...lease, delayMs, message }), call.signal);
      return;
    }
    const { code, message } = error;
    await retryWhileUnavailable(() => ingestion.fail({ ...lease, code, message, progress }), call.signal);
    await deps.storage.originals.release([job.contentHash]);
  } finally {
    releaseSlot();
  }
}

/** Retries a write during a database outage. Otherwise the job would wait until its lease expires. */
async function retryWhileUnavailable(store: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await store();
      return;
    } catch (error) {
      if (signal.aborted || !isCarrelError(error) || error.code !== 'unavailable') throw error;
      await delay(delayMinMs, undefined, { signal });
    }
  }
}

async function prepare(
  job: ClaimedJob,
  call: IngestCall,
  deps: IngestDeps,
  reserveSlot: (units: number) => Promise<void>,
) {
  if (job.crashes >= crashesMax) {
    const message = `The engine crashed ${job.crashes} times on this file and gave up. Try the file in another format.`;
    throw new CarrelError('extraction_failed', message);
  }
  const { signal, report } = call;
  const { content, ...document } = await textOf(job, call, deps);
  await reserveSlot(content.text.length);
  report({ phase: 'chunking' });
  const chunks = await deps.chunker.chunk(content, signal);
  if (chunks.every(({ text }) => isBlank(text))) {
    throw new CarrelError('no_text_in_document', 'The file has no text that can be searched. Add a version with text.');
  }
  signal.throwIfAborted();
  report({ phase: 'indexing' });
  return { ...document, chunks };
}

async function textOf(job: ClaimedJob, { signal, report, isQuick }: IngestCall, deps: IngestDeps) {
  const { note } = job;
  if (note !== undefined) {
    return {
      content: textOfNote(note),
      title: job.title ?? titleOfNote(note),
      docType: job.docType ?? 'note',
      contentType: job.contentType,
      language: undefined,
      details: job.title === undefined ? { derivedTitle: true } : {},
    };
  }
  report({ phase: 'extracting' });
  const bytes = await readOriginal(job.contentHash, deps);
  // Reads the whole page, not only its main content: people may also search for its small print.
  const source = { bytes, filename: job.filename, mode: 'markdown', extent: 'page', ...fetchedFrom(job) } as const;
  const extracted = await deps.extractor.extract(source, { signal, ...(isQuick ? { cpuMsMax: quickCpuMs } : {}) });
  return {
    content: contentOf(extracted),
    title: job.title ?? extracted.title ?? job.filename,
    docType: job.docType ?? extracted.kind,
    contentType: job.contentType,
    language: extracted.language ?? undefined,
    details: { ...detailsOf(extracted, deps.bounds), derivedTitle: job.title === undefined },
  };
}

/** Returns where a web page came from: its links are relative to its URL, and the content type may name the encoding. */
function fetchedFrom({ sourcePath = '', contentType }: ClaimedJob) {
  return /^https?:\/\//.test(sourcePath) ? { url: sourcePath, contentType } : {};
}

function contentOf({ text, kind, codeLanguage, marks, members }: ExtractedDocument): TextToChunk {
  return { text, kind, marks, ...(codeLanguage ? { codeLanguage } : {}), ...(members ? { members } : {}) };
}

/** Prepares a note for chunking, with line numbers. */
export function textOfNote(text: string): TextToChunk {
  return { text, kind: 'markdown', marks: [{ offset: 0, line: 1 }], isNote: true };
}

function detailsOf(extracted: ExtractedDocument, applied: ReadingBounds): Record<string, unknown> {
  const { kind, codeLanguage, byline, published, pages, truncated, omitted } = extracted;
  const bounds = truncated === undefined ? undefined : applied;
  const details = { kind, code_language: codeLanguage, byline, published, pages, omitted, truncated, bounds };
  const defined = Object.entries(details).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(defined);
}

async function readOriginal(hash: string, { storage }: IngestDeps): Promise<Uint8Array> {
  const original = await storage.originals.open(hash);
  if (original === undefined) {
    const message = 'The bytes of this file are missing from the storage. Submit the file again.';
    throw new CarrelError('no_text_in_document', message);
  }
  const parts: Uint8Array[] = [];
  for await (const part of original.content) parts.push(part);
  return Buffer.concat(parts);
}

function unexpected(error: unknown, job: ClaimedJob, log: Logger): CarrelError {
  const incident = log.incident('a file could not be ingested', error, { job: job.id });
  return new CarrelError('internal', `Unexpected error; the log has the details under incident ${incident}.`);
}
