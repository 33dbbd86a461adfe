import { CarrelError } from '../base/errors.ts';
import type { PageChange, PageFacts, StoredPage } from '../storage/web/pages.ts';
import type { RunContext } from './run-context.ts';
import { noteReason } from './run-state.ts';
import { savePage } from './save-pages.ts';
import { createScope } from './scope.ts';
import { moveDocument, removeDocument } from './store-page.ts';

const redirectsMax = 5;
/** Max attempts per page. */
const attemptsMax = 3;
/** After this many failed requests in a row, the run ends. The next refresh continues. */
const hostFailuresMax = 10;
/** A page that is missing in this many refreshes in a row is removed. */
const missingMax = 2;

/** Records a page as failed or skipped. If it has a document from an earlier run, the document stays. */
export function leaveOut(
  context: RunContext,
  page: StoredPage,
  outcome: 'failed' | 'skipped',
  reason: string,
): Promise<void> {
  noteReason(context.state, outcome, reason, page.url);
  return savePage(context, page, [page.document === undefined ? { ...page, state: outcome } : page]);
}

/** Handles a missing page: counts a failure, and removes the page and its document after `missingMax` of them. */
export async function miss(context: RunContext, page: StoredPage, reason: string): Promise<void> {
  const { state, links } = context;
  const failures = page.failures + 1;
  if (failures < missingMax) {
    noteReason(state, 'failed', reason, page.url);
    const change: PageChange = { ...page, state: page.document === undefined ? 'failed' : page.state, failures };
    return savePage(context, page, [change]);
  }
  if (page.document === undefined) noteReason(state, 'failed', reason, page.url);
  await dropDocument(context, page);
  links.forget(page.url);
  return savePage(context, page, [], { removed: [page.key] });
}

export async function dropDocument(context: RunContext, { url, document }: PageFacts): Promise<void> {
  if (document === undefined) return;
  await removeDocument(context.engine, document, context.signal);
  context.texts.delete(url);
  context.state.summary.gone += 1;
}

/** Makes the page an alias of `url`. The page at `url` takes over the document, unless it already has one. */
export async function makeAlias(context: RunContext, page: StoredPage, url: string): Promise<void> {
  const { web, engine, signal, links, texts, run } = context;
  const alias: PageChange = {
    ...page,
    state: 'alias',
    target: url,
    document: undefined,
    textHash: undefined,
    sketch: undefined,
  };
  const fresh = links.learn(url) ? [url] : [];
  if (page.document === undefined) return savePage(context, page, [alias], { urls: fresh, depth: page.depth });
  const [target] = await web.byUrl({ source: run.source.id, urls: [url] });
  if (target?.document !== undefined) {
    await dropDocument(context, page);
    return savePage(context, page, [alias]);
  }
  await moveDocument(engine, page.document, url, signal);
  texts.delete(page.url);
  const successor: PageChange = { ...page, url, state: 'stored', etag: undefined, lastModified: undefined, retryMs: 0 };
  return savePage(context, page, [alias, successor]);
}

/** Creates the handler of redirects. Its `url` is undefined if the target is not a web address. */
export function createRedirects(context: RunContext): (page: StoredPage, url: string | undefined) => Promise<void> {
  const { state, run } = context;
  const { settings } = run.source;
  const hopsTo = new Map<string, number>();
  return async (page, url) => {
    if (url === undefined) return leaveOut(context, page, 'failed', 'bad_redirect');
    const hops = (hopsTo.get(page.url) ?? 0) + 1;
    hopsTo.set(url, hops);
    if (url === page.url || hops > redirectsMax) return leaveOut(context, page, 'failed', 'too_many_redirects');
    if (page.url === state.root && settings.listing !== 'feed') {
      state.root = url;
      context.scope = createScope(url, settings);
    }
    if (!context.scope(url)) return leaveOut(context, page, 'skipped', 'redirects_outside');
    return makeAlias(context, page, url);
  };
}

export interface Retries {
  /** Schedules another attempt, or records a failure after the last one. Throws if the host failed too often in a row. */
  postpone(page: StoredPage, reason: string, hostWaitMs: number): Promise<void>;
  /** Counts failures of the host in a row. Called after every request. */
  count(failed: boolean): void;
}

export function createRetries(context: RunContext): Retries {
  const attempts = new Map<number, number>();
  let hostFailures = 0;
  return {
    count(failed) {
      hostFailures = failed ? hostFailures + 1 : 0;
    },
    async postpone(page, reason, hostWaitMs) {
      const host = await context.hostOf(page.url);
      if (hostWaitMs > 0) await host.postpone(hostWaitMs);
      const { host: name } = new URL(page.url);
      if (hostFailures >= hostFailuresMax) {
        throw new CarrelError(
          'fetch_failed',
          `${name} failed ${hostFailures} times in a row (${reason}). The next refresh continues from here.`,
        );
      }
      const attempt = (attempts.get(page.key) ?? 0) + 1;
      attempts.set(page.key, attempt);
      if (attempt < attemptsMax) {
        const retryMs = Math.max(hostWaitMs, Math.max(10, 5 * host.pauseMs) * 4 ** (attempt - 1));
        return savePage(context, page, [{ ...page, retryMs }]);
      }
      context.state.visited += 1;
      return leaveOut(context, page, 'failed', reason);
    },
  };
}
