import { Worker, type WorkerOptions } from 'node:worker_threads';
import { fileBeside } from '../places.ts';
import type { WorkerCall, WorkerMessage } from './answer-calls.ts';
import { fromWire } from './wire-error.ts';

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

export interface WorkerCallsConfig extends WorkerFile {
  readonly workerData?: unknown;
  /** What calls fail with when the thread ends before it has answered. */
  lost(cause: unknown): Error;
}

/** A thread that answers calls (answer-calls.ts), seen from the one that asks. It keeps the process alive only while it is asked. */
export interface WorkerCalls<Request, Answer> {
  /** False once it has failed or was ended; it then answers nothing any more. */
  readonly alive: boolean;
  /** Resolves when it can be asked. Calls need not wait for that. */
  ready(): Promise<void>;
  /** With the signal, only the caller gives up: the thread goes on. */
  call(request: Request, signal?: AbortSignal): Promise<Answer>;
  /** Performs what was asked before, then ends. */
  close(): Promise<void>;
  /** Fails what was asked. Resolves when the thread has ended. */
  terminate(): Promise<void>;
}

interface Waiting<Answer> {
  resolve(value: Answer): void;
  reject(reason: unknown): void;
}

export function createWorkerCalls<Request, Answer>(config: WorkerCallsConfig): WorkerCalls<Request, Answer> {
  const worker = startWorker(config, { workerData: config.workerData });
  const waiting = new Map<number, Waiting<Answer>>();
  const started = Promise.withResolvers<void>();
  // Whoever calls learns of it; a thread that nobody waits for may fail in silence.
  started.promise.catch(() => {});
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let holds = 0;
  let lastId = 0;
  let cause: unknown;
  let failure: Error | undefined;

  worker.unref();
  worker.on('message', (message: WorkerMessage<Answer>) => {
    if (message.kind === 'ready') started.resolve();
    else if (message.kind === 'failed') fail(fromWire(message.error));
    else if (message.kind === 'answer') waiting.get(message.id)?.resolve(message.value);
    else waiting.get(message.id)?.reject(fromWire(message.error));
  });
  worker.on('error', (error) => {
    cause = error;
  });
  worker.once('exit', () => fail(config.lost(cause)));

  return {
    get alive() {
      return failure === undefined;
    },
    ready: () => held(() => started.promise),
    call: (request, signal) =>
      held(async () => {
        signal?.throwIfAborted();
        if (failure) throw failure;
        lastId += 1;
        const id = lastId;
        const { promise, resolve, reject } = Promise.withResolvers<Answer>();
        const abandon = () => reject(signal?.reason);
        signal?.addEventListener('abort', abandon);
        waiting.set(id, { resolve, reject });
        try {
          worker.postMessage({ id, request } satisfies WorkerCall<Request>);
          return await promise;
        } finally {
          waiting.delete(id);
          signal?.removeEventListener('abort', abandon);
        }
      }),
    close: () =>
      held(async () => {
        if (!failure) worker.postMessage('close');
        await ended;
      }),
    terminate: () =>
      held(async () => {
        fail(config.lost(undefined));
        await worker.terminate();
      }),
  };

  /** The first reason is the one that is told. */
  function fail(error: Error): void {
    failure ??= error;
    started.reject(error);
    for (const call of waiting.values()) call.reject(error);
  }

  async function held<T>(action: () => Promise<T>): Promise<T> {
    holds += 1;
    worker.ref();
    try {
      return await action();
    } finally {
      holds -= 1;
      if (holds === 0) worker.unref();
    }
  }
}
