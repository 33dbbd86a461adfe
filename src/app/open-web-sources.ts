import { crawlSlice } from '../crawl/crawl-slice.ts';
import type { Crawler } from '../crawl/crawler.ts';
import type { WebSources } from '../crawl/web-sources.ts';
import { engineSlice } from '../engine/engine-slice.ts';
import type { LocalEngine } from '../engine/local/submit.ts';
import { parseTargetList } from '../web/target-list.ts';
import { ownTargets } from './http-settings.ts';
import type { EngineContext } from './open-engine.ts';
import { withServices } from './shared-services.ts';

export interface OpenedSources {
  readonly sources: WebSources;
  /** Stops crawling; unfinished runs resume later. Call before closing the engine. */
  close(): Promise<void>;
}

/** Delay before the crawler is loaded, so that it doesn't slow down the first answers. */
const firstRunMs = 1_000;

/**
 * Opens the web sources of this process's engine. A server (`as configured`) crawls if its engine has the role `ingest`. Commands
 * never crawl, or perform only the runs that they start.
 */
export function openWebSources(
  context: EngineContext,
  engine: LocalEngine,
  crawls: 'as configured' | 'own runs' | 'never' = 'as configured',
): Promise<OpenedSources> {
  const { config, log } = context;
  return withServices(context.shared, async (services, release) => {
    const [storage, { createWebSources }] = await Promise.all([services.storage(), import('../crawl/web-sources.ts')]);
    const settings = config.of(crawlSlice);
    const isCrawling =
      crawls === 'as configured' ? config.of(engineSlice).roles.includes('ingest') : crawls !== 'never';
    const ownRuns: number[] | undefined = crawls === 'own runs' ? [] : undefined;
    let loading: Promise<Crawler> | undefined;
    const load = (): Promise<Crawler> => {
      loading ??= loadCrawler();
      return loading;
    };
    const wake = (job?: number): void => {
      if (job !== undefined) ownRuns?.push(job);
      if (isCrawling) load().then((crawler) => crawler.wake(), logFailure);
    };
    const timer = crawls === 'as configured' ? setTimeout(wake, firstRunMs).unref() : undefined;
    return {
      sources: createWebSources({ storage, engine, onStarted: wake }),
      async close() {
        clearTimeout(timer);
        await (await loading)?.close();
        await release();
      },
    };

    async function loadCrawler(): Promise<Crawler> {
      const [extractor, { createCrawler }, { createSafeFetch }] = await Promise.all([
        services.extractor(),
        import('../crawl/crawler.ts'),
        import('../web/safe-fetch.ts'),
      ]);
      const fetch = createSafeFetch({
        userAgent: settings.userAgent,
        timeoutMs: settings.fetchTimeoutMs,
        bytesMax: settings.fetchBytesMax,
        allowPrivate: parseTargetList(settings.fetchAllowPrivate),
        refused: parseTargetList(ownTargets(config)),
      });
      return createCrawler(settings, { storage, engine, extractor, fetch, log, jobs: ownRuns });
    }

    function logFailure(error: unknown): void {
      log.incident('could not start refreshing web sources', error);
    }
  });
}
