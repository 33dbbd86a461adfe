import type { CallJob, CallJobs } from '../jobs/call-jobs.ts';
import type { Call, Progress } from '../tools/call.ts';
import type { IncomingCall } from './incoming-call.ts';
import { describeFailure, ownError } from './wire-errors.ts';

export interface JobHandle {
  jobId: string;
  state: 'queued' | 'running';
  message: string;
}

/** `begun` is called when the work has left the queue. */
export type Work<Result> = (call: Call, begun: () => void) => Promise<Result>;

export type SlowOutcome<Result> = { handle: JobHandle } | { result: Result };

/**
 * Runs work that may take long. If it is not done after `slowMs`, it becomes a job: the caller gets a handle, the work and
 * its progress continue, and the job keeps what the call would have answered. Without `slowMs`, it waits for the end.
 */
export async function runOrBecomeJob<Result>(
  work: Work<Result>,
  call: IncomingCall,
  slowMs: number | undefined,
  jobs: CallJobs,
): Promise<SlowOutcome<Result>> {
  if (slowMs === undefined) return { result: await work(call, () => {}) };

  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  call.signal.addEventListener('abort', cancel, { once: true });
  let latest: Progress = { progress: 0 };
  let job: CallJob | undefined;
  let state: JobHandle['state'] = 'queued';
  const begun = (): void => {
    state = 'running';
    job?.begin();
  };
  const report = (progress: Progress): void => {
    latest = progress;
    job?.report(progress);
    call.report(progress);
  };
  const running = work({ ...call, signal: controller.signal, report }, begun);

  const { promise: tooSlow, resolve } = Promise.withResolvers<'slow'>();
  const timer = setTimeout(() => resolve('slow'), slowMs);
  try {
    const first = await Promise.race([running.then((result) => ({ result })), tooSlow]);
    if (first !== 'slow') return first;
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', cancel);
  }

  job = jobs.start(call.caller.owner, latest, state);
  await job.known;
  const forget = call.keepCancellable(cancel);
  void settle(running, job, controller.signal, call).finally(forget);
  return {
    handle: {
      jobId: job.id,
      state,
      message: 'This takes longer and continues as a job. Get its result with the job_get tool and this jobId.',
    },
  };
}

async function settle(running: Promise<unknown>, job: CallJob, signal: AbortSignal, call: Call): Promise<void> {
  try {
    job.finish(await running);
  } catch (thrown) {
    if (signal.aborted) job.cancelled();
    else {
      const { message, data, code } = describeFailure(ownError(thrown, call.log));
      job.fail({ ...data, code, message });
    }
  }
}
