import { Worker, type WorkerOptions } from 'node:worker_threads';
import { fileBeside } from '../program-files.ts';
import { type Calls, createCalls } from './calls.ts';
import { barNativeSection, type NativeSection, releaseNativeSection } from './native-section.ts';

export interface WorkerFile {
  /** `import.meta.url` of the file that lies beside the worker's. */
  readonly from: string;
  /** Of the worker's file, without its ending. */
  readonly file: string;
  /** Of the thread, for whoever looks at the process. */
  readonly name: string;
}

/** Starts a thread, from source or from the built program. */
export function startWorker({ from, file, name }: WorkerFile, options: WorkerOptions = {}): Worker {
  // Flags of the process (--eval, --input-type) are not for its threads.
  return new Worker(fileBeside(from, file), { ...options, name, execArgv: [] });
}

/** Of a thread that collects its garbage early. By default, threads keep up to 48 MB of it, each. */
export const leanLimits = { maxYoungGenerationSizeMb: 16 } as const;
const leastLimits = { maxYoungGenerationSizeMb: 6 } as const;

export interface WorkerCallsConfig extends WorkerFile {
  readonly workerData?: unknown;
  /** For a thread that reads a lot and keeps nothing. `least`: it makes little garbage too, but large objects at its start. */
  readonly lean?: boolean | 'least';
  /** In which the thread, which is told of it, runs native code. It is not ended there. */
  readonly nativeSection?: NativeSection;
  /** What calls fail with when the thread ends before it has answered. */
  lost(cause: unknown): Error;
}

/** A thread that answers calls. */
export function createWorkerCalls<Request, Answer>(config: WorkerCallsConfig): Calls<Request, Answer> {
  const { nativeSection } = config;
  const worker = startWorker(config, {
    workerData: config.workerData,
    ...(config.lean ? { resourceLimits: config.lean === 'least' ? leastLimits : leanLimits } : {}),
  });
  return createCalls(
    {
      send: (message) => worker.postMessage(message),
      hold: (held) => (held ? worker.ref() : worker.unref()),
      async terminate() {
        if (nativeSection) await barNativeSection(nativeSection);
        await worker.terminate();
      },
      onMessage: (take) => worker.on('message', take),
      onEnd(tell) {
        let cause: unknown;
        worker.on('error', (error) => {
          cause = error;
        });
        worker.once('exit', () => {
          if (nativeSection) releaseNativeSection(nativeSection);
          tell(cause);
        });
      },
    },
    config.lost,
  );
}
