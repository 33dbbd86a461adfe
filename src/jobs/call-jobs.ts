import { randomUUID } from 'node:crypto';
import { CarrelError } from '../base/errors.ts';
import { wireBytes } from '../base/wire-bytes.ts';

export type CallJobState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** A call that outlived its request. Times are ISO-8601. */
export interface CallJobView {
  jobId: string;
  state: CallJobState;
  progress: number;
  total?: number;
  message?: string;
  startedAt: string;
  updatedAt: string;
  /** What the call would have answered. */
  result?: unknown;
  error?: CallJobError;
}

/** Why it failed, with the facts that the call's error would have carried. */
export interface CallJobError {
  code: string;
  message: string;
  [fact: string]: unknown;
}

export interface CallJob {
  readonly id: string;
  /** Settles when other processes know of it. */
  readonly known?: Promise<void>;
  /** It has left the queue. */
  begin(): void;
  report(progress: { progress: number; total?: number; message?: string }): void;
  finish(result: unknown): void;
  fail(error: CallJobError): void;
  cancelled(): void;
}

export interface CallJobs {
  start(
    owner: string,
    first: { progress: number; total?: number; message?: string },
    state?: 'queued' | 'running',
  ): CallJob;
  /** Another owner's job is as unknown as one that never existed. */
  get(id: string, owner: string): CallJobView;
  /** The same for jobs of other processes too, where they share a database. */
  find(id: string, owner: string): Promise<CallJobView>;
}

export interface CallJobsOptions {
  /** How long finished jobs are kept … */
  keepMs?: number;
  /** … and how many at most; running ones are never dropped. */
  finishedMax?: number;
  /** Bytes of their results; the oldest make room. */
  resultBytesMax?: number;
  now?: () => Date;
}

interface KeptJob {
  owner: string;
  view: CallJobView;
  endedAt?: number;
  /** Of its result. */
  bytes: number;
}

/**
 * Slow calls that were answered with a handle. They live in memory: their work is tied to this process (an open upstream
 * request), so there is nothing to resume after a restart.
 */
export function createCallJobs(options: CallJobsOptions = {}): CallJobs {
  const { keepMs = 3_600_000, finishedMax = 1000, resultBytesMax = 64 * 1024 * 1024, now = () => new Date() } = options;
  const jobs = new Map<string, KeptJob>();

  const sweep = (): void => {
    const time = now().getTime();
    const finished = [...jobs].filter(([, job]) => job.endedAt !== undefined);
    const surplus = finished.length - finishedMax;
    let bytes = finished.reduce((sum, [, job]) => sum + job.bytes, 0);
    finished.forEach(([id, job], index) => {
      const last = index === finished.length - 1;
      if (index >= surplus && time - (job.endedAt ?? time) <= keepMs && (bytes <= resultBytesMax || last)) return;
      bytes -= job.bytes;
      jobs.delete(id);
    });
  };

  const get = (id: string, owner: string): CallJobView => {
    sweep();
    const job = jobs.get(id);
    if (job === undefined || job.owner !== owner) throw jobNotFound();
    return { ...job.view };
  };

  return {
    start(owner, first, state = 'running') {
      const startedAt = now().toISOString();
      const view: CallJobView = { jobId: randomUUID(), state, ...first, startedAt, updatedAt: startedAt };
      const job: KeptJob = { owner, view, bytes: 0 };
      jobs.set(view.jobId, job);
      const update = (change: Partial<CallJobView>): void => {
        if (job.endedAt !== undefined) return;
        Object.assign(view, change, { updatedAt: now().toISOString() });
      };
      const end = (change: Partial<CallJobView>): void => {
        update(change);
        job.endedAt ??= now().getTime();
        sweep();
      };
      return {
        id: view.jobId,
        begin: () => update({ state: 'running' }),
        report: update,
        finish(result) {
          job.bytes = wireBytes(result, 1);
          end({ state: 'done', result });
        },
        fail: (error) => end({ state: 'failed', error }),
        cancelled: () => end({ state: 'cancelled' }),
      };
    },
    get,
    find: async (id, owner) => get(id, owner),
  };
}

export function jobNotFound(): CarrelError {
  return new CarrelError('job_not_found', 'No such job: it never existed, or it ended more than an hour ago.');
}
