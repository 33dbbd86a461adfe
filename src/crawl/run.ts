import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError } from '../base/errors.ts';
import type { ListedPage } from '../documents/document.ts';
import type { StoredPage } from '../storage/web/pages.ts';
import type { ClaimedRun } from '../storage/web/runs.ts';
import { normaliseUrl } from './address.ts';
import { type Fetched, fetchPage } from './fetch-page.ts';
import { decodeSketch } from './near-duplicates.ts';
import { isSitemap, readFeedPages, readSitemapPages } from './read-listing.ts';
import { createPageReader } from './read-page.ts';
import { createRedirectHandler, createRetries, recordMissing, recordUnread } from './record-page.ts';
import { createRunContext, noteLimit, type RunDeps, savePage, savePages } from './run-context.ts';

export type Run = ReturnType<typeof createRun>;

/** Max pages being read and stored while the next one is fetched. */
const readingMax = 4;
/** Pages per query. */
const batchPages = 50;

/**
 * Creates a run. It has four steps for each page:
 * 1. Fetch it, one request per host at a time (this file).
 * 2. If it is missing, redirects or fails, record that (`record-page.ts`).
 * 3. Otherwise read it, and store it if it is new or changed (`read-page.ts`).
 * 4. Save the page, its links and the state of the run in one transaction (`run-context.ts`).
 */
export function createRun(run: ClaimedRun, lease: { owner: string; signal: AbortSignal }, deps: RunDeps) {
  const context = createRunContext(run, lease, deps);
  const { web, fetch, signal, state, links, texts, hostOf, progress } = context;
  const { id, source } = run;
  const { settings } = source;
  const { summary } = state;
  const redirect = createRedirectHandler(context);
  const retries = createRetries(context);
  const readPage = createPageReader(context);
  const reading = new Map<number, Promise<void>>();
  let listing: Map<string, ListedPage> | undefined;
  let failure: { readonly error: unknown } | undefined;

  return {
    progress,
    /** Visits the pages of the source until all are visited or a limit is reached. */
    async perform(): Promise<void> {
      try {
        await prepare();
        await visitAll();
      } finally {
        await Promise.allSettled(reading.values());
        await context.releaseHosts();
      }
    },
  };

  async function prepare(): Promise<void> {
    for (const page of await web.overview({ source: source.id })) {
      links.learn(page.url);
      if (page.state === 'stored' && page.textHash !== undefined && page.sketch !== undefined) {
        texts.set(page.url, { hash: page.textHash, sketch: decodeSketch(page.sketch) });
      }
    }
    if (settings.listing === 'feed') listing = await readFeedPages(source.url, context);
    if (settings.listing === 'sitemap') listing = await readSitemapPages(source.url, context);
    const isPage = settings.listing === undefined || (settings.follows && !isSitemap(source.url));
    const first = isPage ? [source.url] : [];
    const listed = [...first, ...(listing?.keys() ?? [])];
    const { fresh } = links.choose(listed, (url) => url === source.url || context.scope(url));
    if (fresh.length > 0) await savePages(context, [], { urls: fresh, depth: 0 });
  }

  async function visitAll(): Promise<void> {
    let after = state.cursor;
    let pending: StoredPage[] = [];
    for (;;) {
      signal.throwIfAborted();
      if (failure !== undefined) throw failure.error;
      if (isOverLimit()) return;
      // Checked before the query: a page that finishes during the query may add links that the query misses.
      const isReading = reading.size > 0;
      if (pending.length === 0) pending = await web.pages({ source: source.id, after, limit: batchPages });
      const page = pending.shift();
      if (page !== undefined) {
        after = page.key;
        // Skips pages that this run has already saved: an earlier process visited them, or they wait for a retry.
        if (page.run !== id && !canSkip(page)) await visit(page);
      } else if (isReading) {
        if (reading.size > 0) await Promise.race(reading.values());
      } else if (!(await retry())) return;
      state.cursor = Math.min(after, ...[...reading.keys()].map((key) => key - 1));
    }
  }

  function isOverLimit(): boolean {
    if (summary.bytes > deps.settings.sourceBytesMax) noteLimit(state, 'bytes');
    if (state.cpuMs > deps.settings.sourceCpuMinutes * 60_000) noteLimit(state, 'cpu');
    return summary.limits.some((limit) => limit === 'bytes' || limit === 'cpu');
  }

  /** True if the page needs no visit: the listing shows it unchanged, or a feed no longer lists it. */
  function canSkip({ url, state: previousState, listedAt }: StoredPage): boolean {
    const listed = listing?.get(url);
    if (listed === undefined) return settings.listing === 'feed';
    if (listed.changed === undefined || listed.changed !== listedAt || previousState === 'failed') return false;
    summary.unchanged += 1;
    state.visited += 1;
    return true;
  }

  /** Retries the next postponed page, once its wait is over. Returns false if there is none. */
  async function retry(): Promise<boolean> {
    const [next] = await web.retried({ source: source.id, run: id });
    if (next === undefined) return false;
    await delay(next.waitMs, undefined, { signal });
    await visit(next.page);
    await Promise.all(reading.values());
    return true;
  }

  /** Resolves when the page has been fetched. It is then read while the next one is fetched. */
  async function visit(page: StoredPage): Promise<void> {
    const { key, url } = page;
    const listed = listing?.get(url);
    const fetching = fetchOne(page);
    const ended = fetching
      .then((fetched) => handleFetched({ ...page, listedAt: listed?.changed ?? page.listedAt }, fetched))
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => reading.delete(key));
    reading.set(key, ended);
    await fetching.catch(() => {});
    while (reading.size >= readingMax) await Promise.race(reading.values());
  }

  async function fetchOne({ url, etag, lastModified }: StoredPage): Promise<Fetched> {
    const host = await hostOf(url);
    const rules = await host.robots(signal).catch((error: unknown) => {
      // If the source's own host is unavailable, the run ends.
      if (!isCarrelError(error) || new URL(url).origin === new URL(state.root).origin) throw error;
    });
    if (rules === undefined) return { outcome: 'failed', reason: 'robots_unreachable' };
    if (!rules.allows(url)) return { outcome: 'skipped', reason: 'robots' };
    const validators = {
      ...(etag === undefined ? {} : { etag }),
      ...(lastModified === undefined ? {} : { lastModified }),
    };
    const fetched = await host.request(signal, () => fetchPage(fetch, url, { validators, signal }));
    retries.count(fetched.outcome === 'later');
    return fetched;
  }

  async function handleFetched(page: StoredPage, fetched: Fetched): Promise<void> {
    if (fetched.outcome !== 'later') state.visited += 1;
    switch (fetched.outcome) {
      case 'unchanged':
        summary.unchanged += 1;
        return savePage(context, page, [{ ...page, failures: 0 }]);
      case 'gone':
        return recordMissing(context, page, 'status 404');
      case 'moved':
        return redirect(page, normaliseUrl(fetched.url));
      case 'skipped':
      case 'failed':
        return recordUnread(context, page, fetched.outcome, fetched.reason);
      case 'later':
        return retries.postpone(page, fetched.reason, fetched.hostWaitMs);
      case 'page':
        return readPage(page, fetched);
    }
  }
}
