import { availableParallelism } from 'node:os';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { createNativeSection } from '../../base/workers/native-section.ts';
import { withinTime } from '../../base/workers/within-time.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { OnnxRuntimeConfig } from './onnx-runtime.ts';

/** Each has a model of its own in memory. */
const threadsDefaultMax = 8;

/** The number of threads for a setting: 0 means all cores, up to eight. */
export function modelThreadsOf(setting: number): number {
  return setting === 0 ? Math.min(threadsDefaultMax, availableParallelism()) : setting;
}

export interface ModelThreadsConfig {
  /** `import.meta.url` of the file that lies beside the worker's. */
  readonly from: string;
  readonly file: string;
  /** Of the threads, for whoever looks at the process. */
  readonly name: string;
  readonly workerData: OnnxRuntimeConfig;
  /** Cores that the model may keep busy, with a thread each. */
  readonly threads: number;
  readonly queuedMax: number;
  /** CPU time for one request, not for loading the model. A worker that takes longer is terminated and restarted. */
  readonly timeoutMs: number;
  readonly failures: ModelFailures;
}

export interface ModelFailures {
  failed(cause: unknown): CarrelError;
  full(): CarrelError;
  closed(): CarrelError;
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Goes before what is not urgent, because somebody is waiting for it. */
  urgent?: boolean;
}

export interface ModelThreads<Request, Answer> {
  /** One answer for each request, in the same order. */
  run(requests: readonly Request[], options?: RunOptions): Promise<Answer[]>;
  /** Threads are started again when they are needed again. */
  close(): Promise<void>;
}

interface Job<Request, Answer> {
  requests: readonly Request[];
  /** The requests before this one have been given to a thread. */
  next: number;
  answers: Answer[];
  left: number;
  resolve(answers: Answer[]): void;
  reject(error: unknown): void;
  /** Stops listening for the cancellation. */
  forget(): void;
}

/** A thread with a model of its own, which performs one request at a time. */
interface Lane<Request, Answer> {
  calls: Calls<Request, Answer>;
  working: Promise<void> | undefined;
}

/** Usually half a second to a second; many times that on a busy machine. */
const loadTimeoutMs = 120_000;

/**
 * A local model, on worker threads that start as requests need them and do not keep the process alive. Each runs the model
 * on one core and takes one request at a time, urgent ones first, so that a search waits for at most one text that is being
 * ingested.
 */
export function createModelThreads<Request, Answer>(config: ModelThreadsConfig): ModelThreads<Request, Answer> {
  const { failures } = config;
  const urgent: Job<Request, Answer>[] = [];
  const others: Job<Request, Answer>[] = [];
  let lanes: Lane<Request, Answer>[] = [];
  /** Those that were given up, until they are out of native code. */
  const lingering = new Set<Calls<Request, Answer>>();

  function start(): Lane<Request, Answer> {
    keepRuntimeQuiet();
    const nativeSection = createNativeSection();
    const workerData: OnnxRuntimeConfig = { ...config.workerData, nativeSection };
    const calls = createWorkerCalls<Request, Answer>({
      ...config,
      ...{ workerData, nativeSection, lean: 'least', lost: failures.failed },
    });
    return { calls, working: undefined };
  }

  function nextJob(): Job<Request, Answer> | undefined {
    const isOpen = (job: Job<Request, Answer>) => job.next < job.requests.length;
    return urgent.find(isOpen) ?? others.find(isOpen);
  }

  /** Gives requests to threads that have none, and starts another thread while requests wait. */
  function assign(): void {
    for (const { calls } of lanes.filter((lane) => !lane.calls.alive)) linger(calls);
    lanes = lanes.filter(({ calls }) => calls.alive);
    if (lanes.length === 0 && lingering.size > config.threads) {
      failAll(failures.failed(new Error('no thread comes out of native code')));
    }
    while (nextJob() !== undefined) {
      const free = lanes.find(({ working }) => working === undefined);
      if (free === undefined && lanes.length >= config.threads) return;
      const lane = free ?? start();
      if (free === undefined) lanes.push(lane);
      lane.working = work(lane).finally(() => {
        lane.working = undefined;
        assign();
      });
    }
  }

  function linger(calls: Calls<Request, Answer>): void {
    lingering.add(calls);
    void calls.terminate().finally(() => lingering.delete(calls));
  }

  async function work({ calls }: Lane<Request, Answer>): Promise<void> {
    for (let job = nextJob(); job !== undefined && calls.alive; job = nextJob()) await performNext(job, calls);
  }

  async function performNext(job: Job<Request, Answer>, calls: Calls<Request, Answer>): Promise<void> {
    const place = job.next;
    job.next += 1;
    const overdue = () => failures.failed(new Error('a text took too long'));
    try {
      // The place is one of the list's.
      const request = job.requests[place] as Request;
      await withinTime(calls, calls.ready(), { timeoutMs: loadTimeoutMs, overdue });
      job.answers[place] = await withinTime(calls, calls.call(request), { timeoutMs: config.timeoutMs, overdue });
      job.left -= 1;
      if (job.left === 0) finish(job, () => job.resolve(job.answers));
    } catch (error) {
      // Without the thread, all waiting calls fail; the next request starts another one.
      const failure = isCarrelError(error) ? error : failures.failed(error);
      if (calls.alive) finish(job, () => job.reject(failure));
      else failAll(failure);
    }
  }

  function failAll(failure: CarrelError): void {
    for (const job of [...urgent, ...others]) finish(job, () => job.reject(failure));
  }

  function finish(job: Job<Request, Answer>, tell: () => void): void {
    for (const queue of [urgent, others]) {
      const at = queue.indexOf(job);
      if (at >= 0) queue.splice(at, 1);
    }
    job.next = job.requests.length;
    job.forget();
    tell();
  }

  function enqueue(requests: readonly Request[], { signal, urgent: isUrgent }: RunOptions): Promise<Answer[]> {
    const queued = [...urgent, ...others].reduce((sum, job) => sum + job.left, 0);
    if (queued + requests.length > config.queuedMax) return Promise.reject(failures.full());
    return new Promise((resolve, reject) => {
      const abort = () => finish(job, () => job.reject(new CarrelError('cancelled', 'The call was cancelled.')));
      const job: Job<Request, Answer> = {
        requests,
        next: 0,
        answers: Array.from({ length: requests.length }),
        left: requests.length,
        resolve,
        reject,
        forget: () => signal?.removeEventListener('abort', abort),
      };
      (isUrgent ? urgent : others).push(job);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      assign();
    });
  }

  return {
    run: async (requests, options = {}) => (requests.length === 0 ? [] : enqueue(requests, options)),
    async close() {
      failAll(failures.closed());
      const stopping = lanes;
      lanes = [];
      await Promise.all(stopping.map(({ calls }) => calls.terminate()));
    },
  };
}

/**
 * The native runtime (1.29 and newer, on Linux and macOS) sends telemetry and keeps a machine id in the home folder, unless
 * this variable is set before it is loaded. It must be set here: a worker has a copy of the environment, which native code
 * does not see.
 */
function keepRuntimeQuiet(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
}
