import type { CallJob, CallJobs } from '../../jobs/call-jobs.ts';
import type { Call, Progress } from '../../tools/call.ts';
import type { IncomingCall } from '../methods/incoming-call.ts';
import { describeFailure, toCarrelError } from '../wire-errors.ts';

export interface JobHandle {
  jobId: string;
  state: 'queued' | 'running';
  message: string;
}

/** Work that calls `started` when it leaves the queue. */
export type Work<Result> = (call: Call, started: () => void) => Promise<Result>;

export type SlowOutcome<Result> = { handle: JobHandle } | { result: Result };

/**
 * Runs work that may be slow. After `slowMs` it becomes a job: the caller gets a handle, the work continues and reports
 * progress, and the job keeps the result. Without `slowMs`, the caller waits.
 */
export async function runOrBecomeJob<Result>(
  work: Work<Result>,
  call: IncomingCall,
  slowMs: number | undefined,
  jobs: CallJobs,
): Promise<SlowOutcome<Result>> {
  if (slowMs === undefined) return { result: await work(call, () => {}) };

  let latest: Progress = { progress: 0 };
  let job: CallJob | undefined;
  let state: JobHandle['state'] = 'queued';
  const started = (): void => {
    state = 'running';
    job?.begin();
  };
  const report = (progress: Progress): void => {
    latest = progress;
    job?.report(progress);
    call.report(progress);
  };
  return runOrContinue(
    call,
    slowMs,
    ({ signal }) => work({ ...call, signal, report }, started),
    async (running) => {
      job = jobs.start(call.caller.owner, latest, state);
      await job.published;
      const forget = call.keepCancellable(running.cancel);
      void finishJob(running, job, call).finally(forget);
      const message =
        'This call takes longer and continues as a job. Pass this jobId to the job_get tool to get the result.';
      return { jobId: job.id, state, message };
    },
  );
}

async function finishJob({ result, signal }: Running<unknown>, job: CallJob, { log }: Call): Promise<void> {
  try {
    job.finish(await result);
  } catch (thrown) {
    if (signal.aborted) job.cancel();
    else {
      const { message, data, code } = describeFailure(toCarrelError(thrown, log));
      job.fail({ ...data, code, message });
    }
  }
}

/** Work that may continue after its call was answered. */
export interface Running<Result> {
  readonly result: Promise<Result>;
  /** Aborted when the call is cancelled, before or after it was answered. */
  readonly signal: AbortSignal;
  cancel(): void;
}

/**
 * Runs work for a call. If the work takes longer than `slowMs`, or calls `giveHandle`, the caller gets the handle that
 * `continueAs` creates. If that returns undefined, the caller waits for the result.
 */
export async function runOrContinue<Result, Handle>(
  call: Pick<IncomingCall, 'signal'>,
  slowMs: number,
  begin: (running: Omit<Running<Result>, 'result'>, giveHandle: () => void) => Promise<Result>,
  continueAs: (running: Running<Result>) => Promise<Handle | undefined>,
): Promise<{ result: Result } | { handle: Handle }> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  call.signal.addEventListener('abort', cancel, { once: true });
  const slow = Promise.withResolvers<void>();
  const timer = setTimeout(slow.resolve, slowMs);
  try {
    const { signal } = controller;
    const result = begin({ signal, cancel }, slow.resolve);
    const first = await Promise.race([result.then((value) => ({ result: value })), slow.promise]);
    if (first) return first;
    const handle = await continueAs({ result, signal, cancel });
    return handle === undefined ? { result: await result } : { handle };
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', cancel);
  }
}
