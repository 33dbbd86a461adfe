import { daysBefore } from '../../base/days-before.ts';
import type { Logger } from '../../base/log.ts';
import type { IngestionStore } from '../../storage/contracts/ingestion.ts';
import type { EngineSettings } from '../engine-slice.ts';

const everyMs = 3_600_000;
/** Removed at once; other writes get their turn in between. */
const partMax = 5_000;

/** Keeps the list of jobs bounded, now and every hour. `close` resolves when nothing is running any more. */
export function startForgettingJobs(
  { jobsKeptDays, jobsKeptMax }: Pick<EngineSettings, 'jobsKeptDays' | 'jobsKeptMax'>,
  ingestion: Pick<IngestionStore, 'forget'>,
  log: Logger,
): { close(): Promise<void> } {
  let isClosed = false;
  let running = forgetAll();
  const timer = setInterval(() => {
    running = running.then(forgetAll);
  }, everyMs).unref();

  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };

  async function forgetAll(): Promise<void> {
    try {
      const before = daysBefore(new Date().toISOString(), jobsKeptDays);
      for (let forgotten = partMax; forgotten === partMax && !isClosed; ) {
        forgotten = await ingestion.forget({ before, keptMax: jobsKeptMax, limit: partMax });
      }
    } catch (error) {
      log.warn('old jobs could not be removed', { reason: error instanceof Error ? error.message : '' });
    }
  }
}
