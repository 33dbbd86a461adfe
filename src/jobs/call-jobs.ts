import { randomUUID } from 'node:crypto';
import { CarrelError } from '../base/errors.ts';
import type { SharedStore } from '../base/shared-store.ts';
import { wireBytes } from '../base/wire-bytes.ts';
import { createSharedRecords, createStateWriter } from './records.ts';

export type CallJobState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** A tool call that continues after its request was answered. Times are ISO 8601. */
export interface CallJobView {
  jobId: string;
  state: CallJobState;
  progress: number;
  total?: number;
  message?: string;
  startedAt: string;
  updatedAt: string;
  result?: unknown;
  error?: CallJobError;
}

/** Code, message and data of the call's error. */
export interface CallJobError {
  code: string;
  message: string;
  [field: string]: unknown;
}

type Progress = Pick<CallJobView, 'progress' | 'total' | 'message'>;

export type CallJobs = ReturnType<typeof createCallJobs>;
export type CallJob = ReturnType<CallJobs['start']>;

export interface CallJobsOptions {
  /** How long finished jobs are stored. */
  keepMs?: number;
  /** Max finished jobs; running ones are never dropped. */
  finishedMax?: number;
  /** Max bytes of all results; the oldest are dropped. */
  resultBytesMax?: number;
  now?: () => Date;
  /** The store that all processes on one database share, if any. With it, each can report the others' jobs. */
  shared?: () => Promise<SharedStore | undefined>;
}

const renewMs = 15_000;
/** A running job that was not renewed for this long counts as interrupted: its process has died. */
const renewalMaxMs = 4 * renewMs;

/** A job as other processes read it. */
interface JobRecord {
  owner: string;
  view: CallJobView;
  writtenAt: number;
}

interface TrackedJob {
  owner: string;
  view: CallJobView;
  endedAt?: number;
  resultBytes: number;
}

/** Tracks slow calls that were answered with a job handle, in memory and in the shared store, if there is one. */
export function createCallJobs(options: CallJobsOptions = {}) {
  const { keepMs = 3_600_000, finishedMax = 1000, resultBytesMax = 64 * 1024 * 1024, now = () => new Date() } = options;
  const { shared } = options;
  const records = async () => {
    const store = await shared?.();
    return store && createSharedRecords('call-job', store);
  };
  const jobs = new Map<string, TrackedJob>();

  const sweep = (): void => {
    const time = now().getTime();
    const finished = [...jobs].filter(([, job]) => job.endedAt !== undefined);
    const surplus = finished.length - finishedMax;
    let bytes = finished.reduce((sum, [, job]) => sum + job.resultBytes, 0);
    finished.forEach(([id, job], index) => {
      const isLast = index === finished.length - 1;
      if (index >= surplus && time - (job.endedAt ?? time) <= keepMs && (bytes <= resultBytesMax || isLast)) return;
      bytes -= job.resultBytes;
      jobs.delete(id);
    });
  };

  /** Returns a job of this process. Throws the same error for another owner's job as for a missing one. */
  const get = (id: string, owner: string): CallJobView => {
    sweep();
    const job = jobs.get(id);
    if (job === undefined || job.owner !== owner) throw jobNotFound();
    return { ...job.view };
  };

  return {
    start(owner: string, first: Progress, state: 'queued' | 'running' = 'running') {
      const startedAt = now().toISOString();
      const view: CallJobView = { jobId: randomUUID(), state, ...first, startedAt, updatedAt: startedAt };
      const job: TrackedJob = { owner, view, resultBytes: 0 };
      jobs.set(view.jobId, job);
      const writer = createStateWriter(async () => {
        const record: JobRecord = { owner, view, writtenAt: Date.now() };
        await (await records())?.put(view.jobId, 0, record, keepMs);
      }, renewMs);
      const update = (change: Partial<CallJobView>): void => {
        if (job.endedAt !== undefined) return;
        Object.assign(view, change, { updatedAt: now().toISOString() });
        if (shared) writer.writeSoon();
      };
      const end = (change: Partial<CallJobView>): void => {
        if (job.endedAt !== undefined) return;
        update(change);
        job.endedAt = now().getTime();
        sweep();
        if (shared) void writer.writeNow();
        void writer.stop();
      };
      return {
        id: view.jobId,
        /** Resolves when other processes can see the job. */
        published: shared ? writer.writeNow() : Promise.resolve(),
        /** Marks the job as running, when it leaves the queue. */
        begin: () => update({ state: 'running' }),
        report: (progress: Progress) => update(progress),
        finish(result: unknown) {
          job.resultBytes = wireBytes(result, 1);
          end({ state: 'done', result });
        },
        fail: (error: CallJobError) => end({ state: 'failed', error }),
        cancel: () => end({ state: 'cancelled' }),
      };
    },
    get,
    /** Like `get`, but includes jobs of other processes on the same database. */
    async find(id: string, owner: string): Promise<CallJobView> {
      const record = jobs.has(id) ? undefined : await (await records())?.read<JobRecord>(id, 0);
      if (record === undefined) return get(id, owner);
      if (record.owner !== owner) throw jobNotFound();
      const { view, writtenAt } = record;
      const hasEnded = view.state !== 'running' && view.state !== 'queued';
      return hasEnded || Date.now() - writtenAt < renewalMaxMs
        ? view
        : { ...view, state: 'failed', error: interrupted };
    },
  };
}

const interrupted = {
  code: 'interrupted',
  message: 'The server was stopped while this ran, and its outcome is unknown. Call the tool again.',
};

export function jobNotFound(): CarrelError {
  return new CarrelError(
    'job_not_found',
    'No such job: it never existed, or its result was removed, at the latest an hour after it ended.',
  );
}
