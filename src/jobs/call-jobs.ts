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
  [fact: string]: unknown;
}

type Progress = Pick<CallJobView, 'progress' | 'total' | 'message'>;

export interface CallJob {
  readonly id: string;
  /** Resolves when other processes can see the job. */
  readonly known: Promise<void>;
  /** Marks the job as running, when it leaves the queue. */
  begin(): void;
  report(progress: Progress): void;
  finish(result: unknown): void;
  fail(error: CallJobError): void;
  cancelled(): void;
}

export interface CallJobs {
  start(owner: string, first: Progress, state?: 'queued' | 'running'): CallJob;
  /** Returns a job of this process. Another owner's job appears not to exist. */
  get(id: string, owner: string): CallJobView;
  /** Like `get`, but includes jobs of other processes on the same database. */
  find(id: string, owner: string): Promise<CallJobView>;
}

export interface CallJobsOptions {
  /** How long finished jobs are kept. */
  keepMs?: number;
  /** Max finished jobs; running ones are never dropped. */
  finishedMax?: number;
  /** Max bytes of all results; the oldest are dropped. */
  resultBytesMax?: number;
  now?: () => Date;
  /** The store that processes on one database share, if any. With it, each process can report the others' jobs. */
  shared?: () => Promise<SharedStore | undefined>;
}

const renewMs = 15_000;
/** A running job that was not renewed for this long counts as interrupted: its process has died. */
const silentMaxMs = 4 * renewMs;

/** A job as other processes read it. */
interface JobRecord {
  owner: string;
  view: CallJobView;
  at: number;
}

interface KeptJob {
  owner: string;
  view: CallJobView;
  endedAt?: number;
  /** Size of the result. */
  bytes: number;
}

/** Keeps track of slow calls that were answered with a job handle. In memory, and in the shared store if there is one. */
export function createCallJobs(options: CallJobsOptions = {}): CallJobs {
  const { keepMs = 3_600_000, finishedMax = 1000, resultBytesMax = 64 * 1024 * 1024, now = () => new Date() } = options;
  const { shared } = options;
  const records = async () => {
    const store = await shared?.();
    return store && createSharedRecords('call-job', store);
  };
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
      const writer = createStateWriter(async () => {
        const record: JobRecord = { owner, view, at: Date.now() };
        await (await records())?.put(view.jobId, 0, record, keepMs);
      }, renewMs);
      const update = (change: Partial<CallJobView>): void => {
        if (job.endedAt !== undefined) return;
        Object.assign(view, change, { updatedAt: now().toISOString() });
        if (shared) writer.soon();
      };
      const end = (change: Partial<CallJobView>): void => {
        if (job.endedAt !== undefined) return;
        update(change);
        job.endedAt = now().getTime();
        sweep();
        if (shared) void writer.now();
        void writer.stop();
      };
      return {
        id: view.jobId,
        known: shared ? writer.now() : Promise.resolve(),
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
    async find(id, owner) {
      const record = jobs.has(id) ? undefined : await (await records())?.read<JobRecord>(id, 0);
      if (record === undefined) return get(id, owner);
      if (record.owner !== owner) throw jobNotFound();
      const { view, at } = record;
      const isOver = view.state !== 'running' && view.state !== 'queued';
      return isOver || Date.now() - at < silentMaxMs ? view : { ...view, state: 'failed', error: interrupted };
    },
  };
}

const interrupted = {
  code: 'interrupted',
  message: 'The server was stopped while this ran, and its outcome is unknown. Call the tool again.',
};

export function jobNotFound(): CarrelError {
  return new CarrelError('job_not_found', 'No such job: it never existed, or it ended more than an hour ago.');
}
