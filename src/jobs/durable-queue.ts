import type { Logger } from '../base/log.ts';

export interface DurableQueueConfig {
  readonly workers: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** Delay of the first poll, which finds jobs of earlier processes. `wake` polls immediately. */
  readonly firstPollMs?: number;
  /** If all workers have been busy for this long, one extra quick job may run. Default: never. */
  readonly quickJobAfterMs?: number;
}

/** The stored queue, which outlives this process. */
export interface JobSource<Job extends { readonly id: number }> {
  /** Leases the next job. `isQuick`: only one that is expected to be quick. */
  claim(isQuick: boolean): Promise<Job | undefined>;
  /** Extends the lease. Returns false if this process has lost it. */
  renew(job: Job): Promise<boolean>;
  /** Does the job and stores its outcome. Must stop soon after the signal. Errors are only logged. */
  perform(job: Job, signal: AbortSignal, isQuick: boolean): Promise<void>;
  /** Requeues the jobs of dead processes. */
  recover(): Promise<void>;
  /** Requeues the jobs that this process has leased. */
  requeueOwn(): Promise<void>;
}

export interface DurableQueue {
  wake(): void;
  /** Stops a job that runs in this process, because it was cancelled or another process took it over. */
  abort(id: number): void;
  /** Stops all work; unfinished jobs go back to the queue. */
  close(): Promise<void>;
}

const recoverEveryMs = 5_000;
const failureDelayMs = 5_000;

interface RunningJob {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly isQuick: boolean;
  /** Start time, by `performance.now()`. */
  readonly since: number;
}

/** Runs jobs from a queue that several processes share, a limited number at a time. */
export function createDurableQueue<Job extends { readonly id: number }>(
  config: DurableQueueConfig,
  source: JobSource<Job>,
  log: Logger,
): DurableQueue {
  const running = new Map<number, RunningJob>();
  let closed = false;
  let filling: Promise<void> | undefined;
  let isWokenAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let hasPolled = false;
  let recoveredAt = Number.NEGATIVE_INFINITY;
  if (config.firstPollMs === undefined) wake();
  else timer = setTimeout(wake, config.firstPollMs).unref();

  return {
    wake,
    abort: (id) => running.get(id)?.stop.abort(),
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const { stop } of running.values()) stop.abort();
      await filling;
      await Promise.all([...running.values()].map(({ ended }) => ended));
      // Before the first poll, this process has leased no jobs.
      if (hasPolled) await source.requeueOwn();
    },
  };

  function wake(): void {
    if (closed) return;
    if (filling !== undefined) {
      isWokenAgain = true;
      return;
    }
    isWokenAgain = false;
    clearTimeout(timer);
    filling = fill().finally(() => {
      filling = undefined;
      if (isWokenAgain) wake();
    });
  }

  async function fill(): Promise<void> {
    let nextMs = config.pollMs;
    hasPolled = true;
    try {
      if (performance.now() - recoveredAt > recoverEveryMs) {
        await source.recover();
        recoveredAt = performance.now();
      }
      for (let slot = freeSlot(); !closed && slot !== undefined; slot = freeSlot()) {
        const isQuick = slot === 'quick';
        const job = await source.claim(isQuick);
        if (job === undefined) break;
        start(job, isQuick);
      }
    } catch (error) {
      log.warn('could not read the job queue', { reason: error instanceof Error ? error.message : '' });
      nextMs = failureDelayMs;
    }
    if (closed) return;
    timer = setTimeout(wake, nextMs).unref();
  }

  function freeSlot(): 'any' | 'quick' | undefined {
    const all = [...running.values()];
    const regular = all.filter(({ isQuick }) => !isQuick);
    if (regular.length < config.workers) return 'any';
    const { quickJobAfterMs = Number.POSITIVE_INFINITY } = config;
    const now = performance.now();
    return regular.length === all.length && regular.every(({ since }) => now - since >= quickJobAfterMs)
      ? 'quick'
      : undefined;
  }

  function start(job: Job, isQuick: boolean): void {
    const stop = new AbortController();
    const renewal = setInterval(() => void renew(job, stop), config.leaseMs / 3).unref();
    const ended = source
      .perform(job, stop.signal, isQuick)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) log.incident('a job failed unexpectedly', error, { job: job.id });
      })
      .finally(() => {
        clearInterval(renewal);
        running.delete(job.id);
        wake();
      });
    running.set(job.id, { stop, ended, isQuick, since: performance.now() });
  }

  async function renew(job: Job, stop: AbortController): Promise<void> {
    try {
      if (!(await source.renew(job))) stop.abort();
    } catch (error) {
      // The lease survives two failed renewals. If it expires, the job's outcome is rejected.
      log.warn("could not renew a job's lease", { job: job.id, reason: error instanceof Error ? error.message : '' });
    }
  }
}
