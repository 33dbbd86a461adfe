import { type ChildProcess, fork } from 'node:child_process';
import { CarrelError } from '../base/errors.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { cpuSignal, memorySignal } from './end-signals.ts';
import type { ExtractReply, ExtractRequest } from './extract-worker.ts';

export interface ExtractProcess {
  readonly alive: boolean;
  /** One at a time. When it fails for time, memory or cancellation, the process is gone. */
  run(
    source: DocumentSource,
    limits: ExtractLimits,
    cpuMsMax: number,
    signal: AbortSignal | undefined,
  ): Promise<ExtractedDocument>;
  /** Resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starting Node and loading the readers; on a loaded machine this takes many times the usual 0.1 s. */
const startTimeoutMs = 120_000;

/**
 * A worker ends by itself when its CPU time is spent. Waiting so many times as long is for one that neither works nor ends,
 * and leaves room for a machine that is busy with other things.
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
export function createExtractProcess(config: { memoryMb: number }): ExtractProcess {
  const { memoryMb } = config;
  const file = import.meta.url.endsWith('.ts') ? './extract-worker.ts' : './extract-worker.js';
  const child = fork(new URL(file, import.meta.url), [String(memoryMb)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The worker reads what strangers wrote: it gets no environment, so none of our secrets.
    env: {},
    execArgv: [
      `--max-old-space-size=${Math.round(memoryMb * heapShare)}`,
      // V8's default of 16 MB per half lets garbage double what a large page takes.
      '--max-semi-space-size=4',
      // One thread for collecting garbage: a worker that fights for memory must not take every core.
      '--v8-pool-size=1',
      '--disable-warning=ExperimentalWarning',
    ],
  });
  let alive = true;
  let killed = false;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      alive = false;
      resolve();
    };
    child.once('exit', end);
    // Kept for good: an error event that nobody hears would end the program.
    child.on('error', end);
  });
  const ready = once(child, startTimeoutMs).then(() => hold(child, false));
  // A worker that cannot start is reported by the call that waits for it; close() may come before any call does.
  ready.catch(() => undefined);

  return {
    get alive() {
      return alive;
    },
    run,
    kill,
  };

  async function run(
    source: DocumentSource,
    limits: ExtractLimits,
    cpuMsMax: number,
    signal: AbortSignal | undefined,
  ): Promise<ExtractedDocument> {
    hold(child, true);
    const onAbort = () => void kill();
    let started = false;
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await ready;
      started = true;
      hold(child, true);
      const request: ExtractRequest = { source, limits, cpuMsMax };
      const reply = once(child, cpuMsMax * waitFactor);
      child.send(request);
      const answer = await reply;
      if (answer.type !== 'ready' && answer.residentMb > memoryMb * residentShareMax) void kill();
      return documentOf(answer);
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      if (killed) throw new CarrelError('cancelled', 'The extraction was cancelled.', { cause: error });
      void kill();
      throw started ? failureOf(error, cpuMsMax, memoryMb) : unavailable(error);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (alive) hold(child, false);
    }
  }

  async function kill(): Promise<void> {
    // Held, so that a caller who waits for the end of an idle worker is still there when it comes.
    if (alive) child.ref();
    alive = false;
    killed = true;
    child.kill('SIGKILL');
    await ended;
  }
}

/** Why no answer came. */
class Ended extends Error {
  readonly reason: 'timeout' | 'exit' | 'error';
  readonly signal: string | null;
  readonly exitCode: number | null;

  constructor(reason: Ended['reason'], exitCode: number | null, signal: string | null, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

/** The next message of the child. */
function once(child: ChildProcess, timeoutMs: number): Promise<ExtractReply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Ended('timeout', null, null))), timeoutMs);
    const onMessage = (message: unknown) => settle(() => resolve(message as ExtractReply));
    const onExit = (code: number | null, signal: string | null) =>
      settle(() => reject(new Ended('exit', code, signal)));
    const onError = (error: Error) => settle(() => reject(new Ended('error', null, null, error)));
    child.on('message', onMessage);
    child.on('exit', onExit);
    child.on('error', onError);
    function settle(finish: () => void): void {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.off('error', onError);
      finish();
    }
  });
}

/** An idle worker must not keep the program from ending. */
function hold(child: ChildProcess, held: boolean): void {
  if (held) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

function documentOf(reply: ExtractReply): ExtractedDocument {
  if (reply.type === 'document') return reply.document;
  if (reply.type === 'failure') {
    throw new CarrelError(reply.code, reply.message, { cause: reply.cause, data: reply.data });
  }
  throw new CarrelError('extraction_failed', 'The reader answered out of turn. Try again.');
}

function unavailable(ended: Ended): CarrelError {
  return new CarrelError('unavailable', 'The reader of documents did not start. Try again later.', { cause: ended });
}

function failureOf(ended: Ended, cpuMsMax: number, memoryMb: number): CarrelError {
  if (ended.reason === 'timeout' || ended.signal === cpuSignal) {
    return new CarrelError(
      'extraction_timeout',
      `Reading this document took more than ${cpuMsMax} ms of CPU time and was stopped. Try another source for it.`,
      { cause: ended, data: { cpuMsMax } },
    );
  }
  // SIGABRT (or 134) comes from V8 at its heap limit.
  if (ended.signal === memorySignal || ended.signal === 'SIGABRT' || ended.exitCode === 134) {
    return new CarrelError(
      'extraction_memory',
      `Reading this document needed more than ${memoryMb} MB and was stopped. Try another source for it.`,
      { cause: ended, data: { memoryMb } },
    );
  }
  // The worker never sends these to itself while its parent is there: the system or a person did.
  if (ended.signal === 'SIGKILL' || ended.signal === 'SIGTERM' || ended.signal === 'SIGINT') {
    return new CarrelError(
      'extraction_interrupted',
      'The process that read this document was ended from outside; the machine may be short of memory. Try again later.',
      { cause: ended },
    );
  }
  return new CarrelError('extraction_failed', 'The reader of this document ended unexpectedly. Try again.', {
    cause: ended,
  });
}
