import { CarrelError, isCarrelError } from '../base/errors.ts';
import { fileBeside } from '../base/program-files.ts';
import { createProcessCalls, type ProcessEnded } from '../base/workers/process-calls.ts';
import { fromWire } from '../base/workers/wire-error.ts';
import { withTimeout } from '../base/workers/with-timeout.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import type { ExtractAnswer, ExtractRequest } from './extract-worker.ts';
import { cpuSignal, memorySignal } from './reader-limits.ts';
import { startReader } from './start-reader.ts';

export interface ExtractOptions {
  readonly signal?: AbortSignal | undefined;
  /** A lower CPU time limit for this document. */
  readonly cpuMsMax?: number | undefined;
}

export interface ExtractProcessConfig {
  readonly memoryMb: number;
  /** Max CPU time per document. */
  readonly cpuMsMax: number;
}

/** Max time to start Node and load the readers. It is long because the machine may be busy. */
const startTimeoutMs = 120_000;

/** Max elapsed time per document, as a multiple of the CPU limit. Catches a worker that hangs without using CPU time. */
const waitFactor = 20;

/** Share of a worker's memory for the JavaScript heap. The rest is for Node and off-heap buffers. */
const heapShare = 0.6;

/** A worker is replaced if it still uses more than this share of its memory after a document. */
const residentShareMax = 0.6;

/**
 * Starts a child process that extracts documents. A worker thread is not safe enough: its `resourceLimits` omit ArrayBuffers,
 * into which PDF streams are unpacked, and a thread that exhausts memory ends the whole process.
 */
export function createExtractProcess({ memoryMb, cpuMsMax: cpuMsDefault }: ExtractProcessConfig) {
  const child = startReader(
    fileBeside(import.meta.url, 'extract-worker'),
    [String(memoryMb)],
    [
      `--max-old-space-size=${Math.round(memoryMb * heapShare)}`,
      // With V8's default of 16 MB, uncollected garbage would double the memory of a large page.
      '--max-semi-space-size=4',
      // One thread for garbage collection: a worker low on memory must not take every core.
      '--v8-pool-size=1',
      '--disable-warning=ExperimentalWarning',
    ],
  );
  let allowedMs = cpuMsDefault;
  const exitError = (ended: ProcessEnded | undefined) => (ended ? failureOf(ended) : cancelled());
  const calls = createProcessCalls<ExtractRequest, ExtractAnswer>(child, exitError);

  return {
    get alive() {
      return calls.alive;
    },
    /** Extracts one document at a time. If it exceeds a limit or is cancelled, the process ends. */
    async run(
      source: DocumentSource,
      limits: ExtractLimits,
      { signal, cpuMsMax = cpuMsDefault }: ExtractOptions = {},
    ): Promise<ExtractedDocument> {
      allowedMs = cpuMsMax;
      const bounds = { signal, abortError: cancelled };
      await withTimeout(calls, calls.ready(), {
        ...bounds,
        timeoutMs: startTimeoutMs,
        timeoutError: unavailable,
      }).catch((error) => {
        throw isCarrelError(error) && error.code === 'cancelled' ? error : unavailable(error);
      });
      const answer = await withTimeout(calls, calls.call({ source, limits, cpuMsMax }), {
        ...bounds,
        timeoutMs: cpuMsMax * waitFactor,
        timeoutError: tooLong,
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
      const message = `Reading this document needed more than ${memoryMb} MB and was stopped. ${advice('KB_EXTRACT_MEMORY_MB')}`;
      return new CarrelError('extraction_memory', message, { cause: ended, data: { memoryMb } });
    }
    // A worker never sends itself these signals while its parent is alive, so the system or a person sent them.
    if (ended.signal === 'SIGKILL' || ended.signal === 'SIGTERM' || ended.signal === 'SIGINT') {
      const message = 'The process reading this document was killed, probably because memory ran out. Try again later.';
      return new CarrelError('extraction_interrupted', message, { cause: ended });
    }
    return new CarrelError('extraction_failed', 'The process reading this document ended unexpectedly. Try again.', {
      cause: ended,
    });
  }

  function tooLong(cause?: ProcessEnded): CarrelError {
    const message = `Reading this document took more than ${allowedMs} ms of CPU time and was stopped. ${advice('KB_EXTRACT_CPU_MS')}`;
    return new CarrelError('extraction_timeout', message, { cause, data: { cpuMsMax: allowedMs } });
  }
}

/** Names the setting that raises a limit. Only the knowledge base has settings for them. */
function advice(setting: string): string {
  return `In the knowledge base, raise ${setting}; elsewhere, use another source.`;
}

function cancelled(): CarrelError {
  return new CarrelError('cancelled', 'The extraction was cancelled.');
}

function unavailable(cause?: unknown): CarrelError {
  return new CarrelError('unavailable', 'The process that reads documents did not start. Try again later.', { cause });
}
