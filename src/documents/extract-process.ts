import { CarrelError, isCarrelError } from '../base/errors.ts';
import { fileBeside } from '../base/program-files.ts';
import { createProcessCalls, type ProcessEnded } from '../base/workers/process-calls.ts';
import { fromWire } from '../base/workers/wire-error.ts';
import { withinTime } from '../base/workers/within-time.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import type { ExtractAnswer, ExtractRequest } from './extract-worker.ts';
import { cpuSignal, memorySignal } from './reader-limits.ts';
import { startReader } from './start-reader.ts';

export interface ExtractProcess {
  readonly alive: boolean;
  /** One at a time. When it fails for time, memory or cancellation, the process is gone. */
  run(source: DocumentSource, limits: ExtractLimits, options?: ExtractOptions): Promise<ExtractedDocument>;
  /** Kills it, and resolves when it has ended. */
  terminate(): Promise<void>;
}

export interface ExtractOptions {
  readonly signal?: AbortSignal | undefined;
  /** CPU time for this document, where it may use less than others. */
  readonly cpuMsMax?: number | undefined;
}

export interface ExtractProcessConfig {
  readonly memoryMb: number;
  /** For each document. */
  readonly cpuMsMax: number;
}

/** Starting Node and loading the readers; on a loaded machine this takes many times the usual 0.1 s. */
const startTimeoutMs = 120_000;

/**
 * A worker ends by itself when its CPU time is used up. Waiting this many times as long catches one that hangs,
 * and allows for a machine that is busy with other things.
 */
const waitFactor = 20;

/** Share of a worker's memory for the JavaScript heap. The rest is for Node itself and for off-heap buffers. */
const heapShare = 0.6;

/** A worker that keeps more than this share of its memory after a document makes room for a fresh one. */
const residentShareMax = 0.6;

/**
 * A child process that extracts documents. Not a worker thread: `resourceLimits` of a thread does not bound
 * ArrayBuffers, in which a PDF's streams are unpacked, and a thread that exhausts memory ends the whole process.
 */
export function createExtractProcess({ memoryMb, cpuMsMax: cpuMsDefault }: ExtractProcessConfig): ExtractProcess {
  const child = startReader(
    fileBeside(import.meta.url, 'extract-worker'),
    [String(memoryMb)],
    [
      `--max-old-space-size=${Math.round(memoryMb * heapShare)}`,
      // With V8's default of 16 MB per semi-space, garbage would double what a large page takes.
      '--max-semi-space-size=4',
      // One thread for garbage collection: a worker that runs short of memory must not take every core.
      '--v8-pool-size=1',
      '--disable-warning=ExperimentalWarning',
    ],
  );
  let allowedMs = cpuMsDefault;
  const lost = (ended: ProcessEnded | undefined) => (ended ? failureOf(ended) : cancelled());
  const calls = createProcessCalls<ExtractRequest, ExtractAnswer>(child, lost);

  return {
    get alive() {
      return calls.alive;
    },
    async run(source, limits, { signal, cpuMsMax = cpuMsDefault } = {}) {
      allowedMs = cpuMsMax;
      const bounds = { signal, abandoned: cancelled };
      await withinTime(calls, calls.ready(), { ...bounds, timeoutMs: startTimeoutMs, overdue: unavailable }).catch(
        (error) => {
          throw isCarrelError(error) && error.code === 'cancelled' ? error : unavailable(error);
        },
      );
      const answer = await withinTime(calls, calls.call({ source, limits, cpuMsMax }), {
        ...bounds,
        timeoutMs: cpuMsMax * waitFactor,
        overdue: tooLong,
      });
      if (answer.residentMb > memoryMb * residentShareMax) void calls.terminate();
      if ('failure' in answer) throw fromWire(answer.failure);
      return answer.document;
    },
    terminate: calls.terminate,
  };

  function failureOf(ended: ProcessEnded): CarrelError {
    if (ended.signal === cpuSignal) return tooLong(ended);
    // SIGABRT (or 134) comes from V8 at its heap limit.
    if (ended.signal === memorySignal || ended.signal === 'SIGABRT' || ended.exitCode === 134) {
      return new CarrelError(
        'extraction_memory',
        `Reading this document needed more than ${memoryMb} MB and was stopped. Try another source for it.`,
        { cause: ended, data: { memoryMb } },
      );
    }
    // The worker never sends these to itself while its parent lives: the system or a person did.
    if (ended.signal === 'SIGKILL' || ended.signal === 'SIGTERM' || ended.signal === 'SIGINT') {
      return new CarrelError(
        'extraction_interrupted',
        'The process that read this document was killed from outside; the machine may be short of memory. Try again later.',
        { cause: ended },
      );
    }
    return new CarrelError('extraction_failed', 'The process that read this document ended unexpectedly. Try again.', {
      cause: ended,
    });
  }

  function tooLong(cause?: ProcessEnded): CarrelError {
    return new CarrelError(
      'extraction_timeout',
      `Reading this document took more than ${allowedMs} ms of CPU time and was stopped. Try another source for it.`,
      { cause, data: { cpuMsMax: allowedMs } },
    );
  }
}

function cancelled(): CarrelError {
  return new CarrelError('cancelled', 'The extraction was cancelled.');
}

function unavailable(cause?: unknown): CarrelError {
  return new CarrelError('unavailable', 'The process that reads documents did not start. Try again later.', { cause });
}
