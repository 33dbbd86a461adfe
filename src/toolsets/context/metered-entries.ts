import { isCarrelError } from '../../base/errors.ts';
import type { EntryStore } from '../../storage/contracts/entries.ts';

/** What get_statistics tells of the calls to the database since the program began. */
export interface EntryMetrics {
  total_queries: number;
  failed_queries: number;
  consecutive_failures: number;
  /** Our code of it; what the database itself said is in the log. */
  last_error: string | null;
  last_error_time: string | null;
}

/** The entries, with their calls counted. A call that the caller got wrong or gave up has not failed. */
export function meterEntries(entries: EntryStore): { entries: EntryStore; metrics: EntryMetrics } {
  const metrics: EntryMetrics = {
    ...{ total_queries: 0, failed_queries: 0, consecutive_failures: 0 },
    ...{ last_error: null, last_error_time: null },
  };
  const note = (error: unknown): void => {
    if (isCarrelError(error) && ['input', 'not_found', 'cancelled'].includes(error.kind)) return;
    metrics.failed_queries += 1;
    metrics.consecutive_failures += 1;
    metrics.last_error = isCarrelError(error) ? error.code : 'internal';
    metrics.last_error_time = new Date().toISOString();
  };
  const metered = Object.entries(entries).map(([name, method]) => [
    name,
    async (...given: unknown[]) => {
      metrics.total_queries += 1;
      try {
        const answer: unknown = await Reflect.apply(method, entries, given);
        metrics.consecutive_failures = 0;
        return answer;
      } catch (error) {
        note(error);
        throw error;
      }
    },
  ]);
  // Every method is there under its name, and takes and gives what it did.
  return { entries: Object.fromEntries(metered) as EntryStore, metrics };
}
