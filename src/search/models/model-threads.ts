import { availableParallelism } from 'node:os';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createNativeSection } from '../../base/workers/native-section.ts';
import { withTimeout } from '../../base/workers/with-timeout.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { OnnxRuntimeConfig } from './onnx-runtime.ts';

/** Max threads by default: each loads its own model. */
const threadsDefaultMax = 8;

/** Returns the number of threads for a setting. 0 means one per core, up to eight. */
export function modelThreadsOf(setting: number): number {
  return setting === 0 ? Math.min(threadsDefaultMax, availableParallelism()) : setting;
}

export interface ModelThreadsConfig {
  /** `import.meta.url` of a file next to the worker's. */
  readonly from: string;
  readonly file: string;
  /** Thread name, for people inspecting the process. */
  readonly name: string;
  readonly workerData: OnnxRuntimeConfig;
  /** Cores for the model, with a thread each. */
  readonly threads: number;
  readonly queuedMax: number;
  /** Max CPU time of one request, without loading the model. A slower worker is terminated and restarted. */
  readonly timeoutMs: number;
  /** An idle thread ends after this time, unless it is the last one. Default: ten seconds. */
  readonly idleMs?: number;
  /** For error messages. */
  readonly model: 'embedding' | 'reranking';
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Runs these requests first, because a search is waiting for them. */
  urgent?: boolean;
}

interface Job<Request, Answer> {
  readonly request: Request;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** A thread with its own model, serving one request at a time. */
interface ModelThread<Request, Answer> {
  readonly calls: Calls<Request, Answer>;
  isBusy: boolean;
  idleTimer?: NodeJS.Timeout;
}

/** Timeout for loading the model. It usually takes up to a second, but many times that on a busy machine. */
const loadTimeoutMs = 120_000;

/** Min number of waiting requests before another thread starts. Not one, because a thread takes up to 100 MB. */
const waitingMin = 4;
const idleMsDefault = 10_000;

/** Runs a local model on worker threads, started on demand. Each serves one request at a time on one core, urgent ones first. */
export function createModelThreads<Request, Answer>(config: ModelThreadsConfig) {
  const { model } = config;
  /** Waiting jobs, in order. */
  const urgent = new Set<Job<Request, Answer>>();
  const regular = new Set<Job<Request, Answer>>();
  const running = new Set<Job<Request, Answer>>();
  let threads: ModelThread<Request, Answer>[] = [];
  /** Terminated threads that may still run native code. */
  const terminating = new Set<Calls<Request, Answer>>();

  function start(): ModelThread<Request, Answer> {
    disableTelemetry();
    const nativeSection = createNativeSection();
    const workerData: OnnxRuntimeConfig = { ...config.workerData, nativeSection };
    const calls = createWorkerCalls<Request, Answer>({
      ...config,
      workerData,
      nativeSection,
      exitError: createFailure,
    });
    return { calls, isBusy: false };
  }

  function nextJob(): Job<Request, Answer> | undefined {
    const [job] = urgent.size > 0 ? urgent : regular;
    if (job === undefined) return undefined;
    urgent.delete(job);
    regular.delete(job);
    running.add(job);
    return job;
  }

  /** Assigns requests to idle threads, and starts another thread if enough requests wait. */
  function assign(): void {
    for (const { calls } of threads.filter((thread) => !thread.calls.alive)) terminate(calls);
    threads = threads.filter(({ calls }) => calls.alive);
    if (threads.length === 0 && terminating.size > config.threads) {
      failAll(createFailure(new Error('no model thread could be stopped: all are busy in native code')));
    }
    while (urgent.size + regular.size > 0) {
      const free = threads.find(({ isBusy }) => !isBusy);
      if (free === undefined && !mayStart()) return;
      const thread = free ?? start();
      if (free === undefined) threads.push(thread);
      clearTimeout(thread.idleTimer);
      thread.isBusy = true;
      const job = nextJob();
      if (job) void perform(job, thread);
    }
  }

  function mayStart(): boolean {
    if (threads.length === 0) return true;
    return threads.length < config.threads && urgent.size + regular.size >= waitingMin;
  }

  /** Ends a thread to free its memory, unless it is the last one. */
  function endIfSurplus(thread: ModelThread<Request, Answer>): void {
    if (threads.length < 2 || !threads.includes(thread)) return;
    threads = threads.filter((each) => each !== thread);
    terminate(thread.calls);
  }

  function terminate(calls: Calls<Request, Answer>): void {
    terminating.add(calls);
    void calls.terminate().finally(() => terminating.delete(calls));
  }

  async function perform(job: Job<Request, Answer>, thread: ModelThread<Request, Answer>): Promise<void> {
    const { calls } = thread;
    const timeoutError = () => createFailure(new Error('the model took too long'));
    try {
      await withTimeout(calls, calls.ready(), { timeoutMs: loadTimeoutMs, timeoutError });
      job.resolve(await withTimeout(calls, calls.call(job.request), { timeoutMs: config.timeoutMs, timeoutError }));
    } catch (error) {
      // If the thread died, all waiting requests fail; the next request starts a new thread.
      const failure = isCarrelError(error) ? error : createFailure(error);
      if (calls.alive) job.reject(failure);
      else failAll(failure);
    } finally {
      running.delete(job);
      thread.isBusy = false;
      thread.idleTimer = setTimeout(endIfSurplus, config.idleMs ?? idleMsDefault, thread).unref();
      assign();
    }
  }

  function createFailure(cause: unknown): CarrelError {
    return modelFailure(model, cause);
  }

  function failAll(failure: CarrelError): void {
    for (const job of [...running, ...urgent, ...regular]) job.reject(failure);
    urgent.clear();
    regular.clear();
  }

  return {
    /** Returns one answer per request, in the same order. */
    async run(requests: readonly Request[], { signal, urgent: isUrgent }: RunOptions = {}): Promise<Answer[]> {
      if (running.size + urgent.size + regular.size + requests.length > config.queuedMax) {
        const message = `The local ${model} model has too many waiting requests. Try again in a few seconds.`;
        throw new CarrelError('too_many_in_flight', message, { retryAfterSeconds: 5 });
      }
      const queue = isUrgent ? urgent : regular;
      const cancelled = Promise.withResolvers<never>();
      const abort = () => cancelled.reject(new CarrelError('cancelled', 'The call was cancelled.'));
      const jobs = requests.map((request) => ({ request, ...Promise.withResolvers<Answer>() }));
      for (const job of jobs) queue.add(job);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      else assign();
      try {
        return await Promise.race([Promise.all(jobs.map(({ promise }) => promise)), cancelled.promise]);
      } finally {
        signal?.removeEventListener('abort', abort);
        // If a request failed or the call was cancelled, the remaining requests are not needed.
        for (const job of jobs) queue.delete(job);
      }
    },
    /** Fails all waiting requests and ends the threads. A later `run` starts new ones. */
    async close(): Promise<void> {
      failAll(new CarrelError('unavailable', `The local ${model} model is closed.`));
      const stopping = threads;
      threads = [];
      await Promise.all(stopping.map(({ calls }) => calls.terminate()));
    },
  };
}

export function modelFailure(model: ModelThreadsConfig['model'], cause: unknown): CarrelError {
  const setting = `${model.toUpperCase()}_PROVIDER`;
  const message = `The local ${model} model could not be run. Reinstall Carrel with its models/ folder, or choose another ${setting}.`;
  return new CarrelError('unavailable', message, { cause });
}

/** Stops the native runtime's telemetry. Set on the main thread: native code does not see a worker's copy of the environment. */
function disableTelemetry(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
}
