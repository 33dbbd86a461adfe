import { Worker, type WorkerOptions } from 'node:worker_threads';
import { fileBeside } from '../program-files.ts';
import { type Calls, createCalls } from './calls.ts';
import { barNativeSection, type NativeSection, releaseNativeSection } from './native-section.ts';

export interface WorkerFile {
  /** `import.meta.url` of a file next to the worker's. */
  readonly from: string;
  /** The worker's file name without extension. */
  readonly file: string;
  /** Thread name, for people inspecting the process. */
  readonly name: string;
}

/** Starts a thread, from the source file or from the built one. */
export function startWorker({ from, file, name }: WorkerFile, options: WorkerOptions = {}): Worker {
  // Process flags such as --eval must not reach threads.
  return new Worker(fileBeside(from, file), { ...options, name, execArgv: [] });
}

/** Makes threads collect garbage early: with lower limits, their heaps grow more slowly. */
const resourceLimits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 1024 } as const;

export interface WorkerCallsConfig extends WorkerFile {
  readonly workerData?: unknown;
  /** Marks native code on the thread. The thread is never ended inside it. */
  readonly nativeSection?: NativeSection;
  /** The error of calls when the thread ends before answering. */
  exitError(cause: unknown): Error;
}

export function createWorkerCalls<Request, Answer>(config: WorkerCallsConfig): Calls<Request, Answer> {
  const { nativeSection } = config;
  const worker = startWorker(config, { workerData: config.workerData, resourceLimits });
  return createCalls(
    {
      send: (message) => worker.postMessage(message),
      setRef: (isRef) => (isRef ? worker.ref() : worker.unref()),
      async terminate() {
        if (nativeSection) await barNativeSection(nativeSection);
        await worker.terminate();
      },
      onMessage: (listener) => worker.on('message', listener),
      onEnd(listener) {
        let cause: unknown;
        worker.on('error', (error) => {
          cause = error;
        });
        worker.once('exit', () => {
          if (nativeSection) releaseNativeSection(nativeSection);
          listener(cause);
        });
      },
    },
    config.exitError,
  );
}
