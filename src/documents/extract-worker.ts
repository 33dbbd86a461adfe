/**
 * The process that extracts text, one document at a time. `extract-process.ts` starts it. Its first argument is the max
 * resident memory in MB: above it, the process ends itself.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import { answerCalls } from '../base/workers/answer-calls.ts';
import { toWire, type WireError } from '../base/workers/wire-error.ts';
import { startWorker } from '../base/workers/worker-calls.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { extractDocument } from './extract-document.ts';
import type { WatchData } from './memory-watch-worker.ts';
import { cpuMs } from './reader-limits.ts';

export interface ExtractRequest {
  source: DocumentSource;
  limits: ExtractLimits;
  /** The process ends after this much CPU time. */
  cpuMsMax: number;
}

export type ExtractAnswer = { readonly residentMb: number } & (
  | { readonly document: ExtractedDocument }
  | { readonly failure: WireError }
);

/** Nice value of this process, from 0 to 19. It yields to others, but still makes progress. */
const niceness = 5;

const deadline = new Float64Array(new SharedArrayBuffer(8)).fill(Number.POSITIVE_INFINITY);
const watch = startWorker(
  { from: import.meta.url, file: 'memory-watch-worker', name: 'carrel-watch' },
  { workerData: { memoryMb: Number(process.argv[2]), parentId: process.ppid, deadline } satisfies WatchData },
);

// Answering requests has priority over extraction. Some systems do not allow the change.
try {
  setPriority(niceness);
} catch {}

process.on('disconnect', () => process.exit());
answerCalls<ExtractRequest, ExtractAnswer>(async () => {
  await once(watch, 'online');
  return { perform };
});

async function perform({ source, limits, cpuMsMax }: ExtractRequest): Promise<ExtractAnswer> {
  const startMs = cpuMs();
  deadline[0] = startMs + cpuMsMax;
  try {
    const document = await extractDocument(source, limits);
    return { document: { ...document, cpuMs: cpuMs() - startMs }, residentMb: residentMb() };
  } catch (error) {
    return { failure: toWire(failureOf(error)), residentMb: residentMb() };
  } finally {
    deadline[0] = Number.POSITIVE_INFINITY;
  }
}

function failureOf(error: unknown): CarrelError {
  // Shortened, because the message may quote the document at length.
  const cause = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'not an error';
  if (isCarrelError(error)) return new CarrelError(error.code, error.message, { cause, data: error.data });
  const message = 'The document is damaged or not of the kind it claims to be. Get it again from its source.';
  return new CarrelError('extraction_failed', message, { cause });
}

function residentMb(): number {
  return process.memoryUsage.rss() / 1024 / 1024;
}
