import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError } from '../base/errors.ts';
import type { Engine, EngineJob, JobId } from './engine.ts';

/** The poll interval grows from the minimum to the maximum, because small files finish soon. */
const pollMinMs = 50;
const pollMaxMs = 1000;

/** How long the engine may be unreachable during the wait. */
const unreachableMaxMs = 60_000;

/** Waits until the job has ended. Tolerates an engine that is temporarily unreachable. */
export async function waitForJob(
  engine: Pick<Engine, 'job'>,
  id: JobId,
  signal: AbortSignal,
  onPoll?: (job: EngineJob) => void,
): Promise<EngineJob> {
  let pollMs = pollMinMs;
  let answeredAt = performance.now();
  for (;;) {
    try {
      const job = await engine.job(id, { signal });
      onPoll?.(job);
      if (['done', 'failed', 'cancelled'].includes(job.status)) return job;
      answeredAt = performance.now();
    } catch (error) {
      if (!isUnreachable(error) || performance.now() - answeredAt > unreachableMaxMs) throw error;
    }
    await delay(pollMs, undefined, { signal });
    pollMs = Math.min(pollMaxMs, pollMs * 1.5);
  }
}

/** True if a retry may succeed, because the engine is unavailable rather than rejecting the request. */
export function isUnreachable(error: unknown): boolean {
  if (!isCarrelError(error)) return false;
  return error.kind === 'upstream' || error.kind === 'timeout' || error.code === 'storage_busy';
}
