import { CarrelError } from '../base/errors.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { createExtractProcess, type ExtractProcess } from './extract-process.ts';

export interface ExtractorConfig {
  /** CPU time for one document. */
  cpuMsMax: number;
  /** Resident memory of one worker, off-heap buffers included. */
  memoryMb: number;
  workersMax: number;
  /** Documents above this are refused unread. */
  bytesMax?: number;
  /** Text after this many UTF-16 units is cut, and `truncated` is set. */
  textCharsMax?: number;
  /** Documents that may wait for a worker. */
  queueMax?: number;
  /** A worker without work stops after this time. */
  idleMs?: number;
  /** False: PDF is refused, and its reader never loaded. */
  pdfEnabled?: boolean;
}

export interface Extractor {
  extract(source: DocumentSource, options?: { signal?: AbortSignal }): Promise<ExtractedDocument>;
  /** Kills the workers; whatever is running or waiting fails as cancelled. */
  close(): Promise<void>;
}

interface Task {
  source: DocumentSource;
  signal: AbortSignal | undefined;
  resolve(document: ExtractedDocument): void;
  reject(error: unknown): void;
}

/**
 * Turns documents into text in processes of their own, so that no input can stop or exhaust the one that serves.
 * A process that exceeds its time or memory is killed; the next document starts another.
 */
export function createExtractor(config: ExtractorConfig): Extractor {
  const { cpuMsMax, memoryMb, workersMax, bytesMax = 16 * 1024 * 1024, idleMs = 10_000 } = config;
  const queueMax = config.queueMax ?? workersMax * 32;
  const limits: ExtractLimits = {
    textCharsMax: config.textCharsMax ?? 2_000_000,
    softCpuMs: Math.round(cpuMsMax * 0.8),
    pdfEnabled: config.pdfEnabled ?? true,
  };
  const idle: { worker: ExtractProcess; timer: NodeJS.Timeout }[] = [];
  const busy = new Set<ExtractProcess>();
  const queue = new Set<Task>();
  let closed = false;

  return { extract, close };

  function extract(source: DocumentSource, options: { signal?: AbortSignal } = {}): Promise<ExtractedDocument> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (closed) throw cancelled('The extractor is closed.');
      if (signal?.aborted) throw cancelled('The extraction was cancelled.');
      if (source.bytes.byteLength > bytesMax) {
        throw new CarrelError('document_too_large', `The document has more than ${bytesMax} bytes, the most we read.`, {
          data: { bytes: source.bytes.byteLength, bytesMax },
        });
      }
      if (queue.size >= queueMax) {
        throw new CarrelError('too_many_in_flight', 'Too many documents are waiting to be read. Try again shortly.', {
          retryAfterSeconds: Math.ceil(cpuMsMax / 1000),
        });
      }
      const task: Task = { source, signal, resolve, reject };
      const leaveQueue = () => {
        if (queue.delete(task)) reject(cancelled('The extraction was cancelled.'));
      };
      signal?.addEventListener('abort', leaveQueue, { once: true });
      const settled = () => signal?.removeEventListener('abort', leaveQueue);
      task.resolve = (document) => {
        settled();
        resolve(document);
      };
      task.reject = (error) => {
        settled();
        reject(error);
      };
      queue.add(task);
      dispatch();
    });
  }

  function dispatch(): void {
    for (const task of queue) {
      const worker = takeWorker();
      if (!worker) return;
      queue.delete(task);
      void perform(worker, task);
    }
  }

  function takeWorker(): ExtractProcess | undefined {
    let waiting = idle.pop();
    while (waiting) {
      clearTimeout(waiting.timer);
      if (waiting.worker.alive) return waiting.worker;
      waiting = idle.pop();
    }
    return busy.size < workersMax ? createExtractProcess({ memoryMb }) : undefined;
  }

  async function perform(worker: ExtractProcess, task: Task): Promise<void> {
    busy.add(worker);
    try {
      task.resolve(await worker.run(task.source, limits, cpuMsMax, task.signal));
    } catch (error) {
      task.reject(error);
    }
    busy.delete(worker);
    if (closed) worker.kill();
    else if (worker.alive) rest(worker);
    dispatch();
  }

  function rest(worker: ExtractProcess): void {
    const entry = { worker, timer: setTimeout(stop, idleMs) };
    entry.timer.unref();
    idle.push(entry);
    function stop(): void {
      idle.splice(idle.indexOf(entry), 1);
      worker.kill();
    }
  }

  async function close(): Promise<void> {
    closed = true;
    for (const task of queue) task.reject(cancelled('The extractor was closed.'));
    queue.clear();
    const workers = [...busy, ...idle.map((entry) => entry.worker)];
    for (const { timer } of idle.splice(0)) clearTimeout(timer);
    await Promise.all(workers.map((worker) => worker.kill()));
  }
}

function cancelled(message: string): CarrelError {
  return new CarrelError('cancelled', message);
}
