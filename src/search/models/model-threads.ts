import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { withinTime } from '../../base/workers/within-time.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';

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
  readonly workerData: unknown;
  /** Cores that the model may keep busy, with a thread each. */
  readonly threads: number;
  readonly queuedMax: number;
  /** A worker that takes longer than this for one request is terminated and restarted. */
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

  function start(): Lane<Request, Answer> {
    keepRuntimeQuiet();
    return { calls: createWorkerCalls({ ...config, lean: true, lost: failures.failed }), working: undefined };
  }

  function nextJob(): Job<Request, Answer> | undefined {
    const isOpen = (job: Job<Request, Answer>) => job.next < job.requests.length;
    return urgent.find(isOpen) ?? others.find(isOpen);
  }

  /** Gives requests to threads that have none, and starts another thread while requests wait. */
  function assign(): void {
    lanes = lanes.filter(({ calls }) => calls.alive);
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
      job.answers[place] = await withinTime(calls, calls.call(request), { timeoutMs: config.timeoutMs, overdue });
      job.left -= 1;
      if (job.left === 0) finish(job, () => job.resolve(job.answers));
    } catch (error) {
      // Without the thread, all waiting calls fail; the next request starts another one.
      const failed = calls.alive ? [job] : [...urgent, ...others];
      const failure = isCarrelError(error) ? error : failures.failed(error);
      for (const each of failed) finish(each, () => each.reject(failure));
    }
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
      for (const job of [...urgent, ...others]) finish(job, () => job.reject(failures.closed()));
      const stopping = lanes;
      lanes = [];
      // Keeps the process alive: with nothing else to do, it would exit before `close` has finished.
      const grace = new AbortController();
      const ended = Promise.all(stopping.map(({ working }) => working));
      await Promise.race([ended, delay(closeGraceMs, undefined, { signal: grace.signal }).catch(() => {})]);
      grace.abort();
      await Promise.all(stopping.map(({ calls }) => calls.terminate()));
    },
  };
}

/**
 * Terminating a thread while its native code runs crashes the whole process. So the text that is being read, or the
 * model that is being loaded, gets this long before that is risked.
 */
const closeGraceMs = 3_000;

/**
 * The native runtime (1.29 and newer, on Linux and macOS) sends telemetry and keeps a machine id in the home folder, unless
 * this variable is set before it is loaded. It must be set here: a worker has a copy of the environment, which native code
 * does not see.
 */
function keepRuntimeQuiet(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
}
