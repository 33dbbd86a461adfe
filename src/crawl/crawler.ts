import { isCarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Extractor } from '../documents/extractor.ts';
import { createDurableQueue } from '../jobs/durable-queue.ts';
import { createLeaseOwner } from '../jobs/lease-owner.ts';
import type { Storage } from '../storage/storage.ts';
import type { ClaimedRun } from '../storage/web/runs.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import { parseTargetList } from '../web/target-list.ts';
import type { CrawlSettings } from './crawl-slice.ts';
import { createHosts } from './hosts.ts';
import { createRun, type Run } from './run.ts';
import { RunLost } from './run-context.ts';
import type { PageEngine } from './store-page.ts';

export interface Crawler {
  /** Checks for new runs now. Call it after a run was queued. */
  wake(): void;
  /** Stops all runs. Unfinished ones continue in another process or after a restart. */
  close(): Promise<void>;
}

export interface CrawlerDeps {
  readonly storage: Storage;
  readonly engine: PageEngine;
  readonly extractor: Extractor;
  readonly fetch: SafeFetch;
  readonly log: Logger;
  /** Job ids. If set, the crawler performs only these runs and starts no scheduled refreshes. */
  readonly jobs?: readonly number[] | undefined;
}

/** Max concurrent runs per process. Each fetches from one host at a time. */
const runsMax = 4;
const leaseMs = 15_000;
const pollMs = 5_000;

/** Codes of temporary database errors, after which the run is retried. */
const temporaryCodes = new Set(['unavailable', 'storage_busy', 'storage_full', 'storage_read_only', 'query_timeout']);
const retryDelayMs = 30_000;

/** Runs the crawls of web sources, and starts scheduled refreshes when they are due. Several processes share the work. */
export function createCrawler(settings: CrawlSettings, deps: CrawlerDeps): Crawler {
  const { storage, log, jobs } = deps;
  const { web, ingestion, shared } = storage;
  const owner = createLeaseOwner();
  const running = new Map<number, Run>();
  const stop = new AbortController();
  const hosts = createHosts({
    web,
    fetch: deps.fetch,
    owner,
    userAgent: settings.userAgent,
    ownHosts: parseTargetList(settings.ownHosts),
    stopping: stop.signal,
  });
  const queue = createDurableQueue<ClaimedRun>(
    { workers: runsMax, leaseMs, pollMs },
    {
      async claim() {
        if (jobs === undefined) await web.startDue({ jitter: 2 * Math.random() - 1 });
        return web.claim({ owner, leaseMs, ids: jobs });
      },
      async renew({ id }) {
        const run = running.get(id);
        return run !== undefined && web.renew({ id, owner, leaseMs, progress: run.progress() });
      },
      perform,
      // Nothing to do: the engine of this process already recovers the jobs of dead processes, crawls included.
      recover: async () => {},
      async requeueOwn() {
        await ingestion.giveBack({ owners: [owner], crashed: false });
      },
    },
    log,
  );
  const stopListening = shared?.onNotice((notice) => {
    if (notice.about === 'job') queue.abort(Number(notice.id));
    if (notice.about === 'work') queue.wake();
  });

  return {
    wake: queue.wake,
    async close() {
      stopListening?.();
      // The queue must close first; otherwise `stop` would make runs that wait for a host count as failed.
      const closing = queue.close();
      stop.abort();
      await closing;
    },
  };

  async function perform(claimed: ClaimedRun, signal: AbortSignal): Promise<void> {
    const { id } = claimed;
    const run = createRun(claimed, { owner, signal }, { ...deps, web, hosts, settings });
    running.set(id, run);
    try {
      await run.perform();
      await web.end({ id, owner, progress: run.progress() });
    } catch (error) {
      if (signal.aborted || error instanceof RunLost) return;
      const { code, message } = isCarrelError(error) ? error : unexpected(error, id);
      if (temporaryCodes.has(code)) await ingestion.postpone({ id, owner, delayMs: retryDelayMs, message });
      else await web.end({ id, owner, progress: run.progress(), error: { code, message } });
    } finally {
      running.delete(id);
    }
  }

  function unexpected(error: unknown, job: number): { code: string; message: string } {
    const incident = log.incident('a web source could not be refreshed', error, { job });
    return { code: 'internal', message: `Unexpected error; the log has the details under incident ${incident}.` };
  }
}
