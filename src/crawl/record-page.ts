import { CarrelError } from '../base/errors.ts';
import type { PageChange, StoredPage, VisitedPage } from '../storage/web/pages.ts';
import { createScope } from './links.ts';
import { noteReason, type RunContext, savePage } from './run-context.ts';
import { moveDocument, removeDocument } from './store-page.ts';

const redirectsMax = 5;
/** Max attempts per page. */
const attemptsMax = 3;
/** After this many failed requests in a row, the run ends. The next refresh continues. */
const hostFailuresMax = 10;
/** A page that is missing in this many refreshes in a row is removed. */
const missingMax = 2;

/** The fields of a page without a document. */
export const noDocument = { document: undefined, textHash: undefined, sketch: undefined } as const;

/** Records a page as failed or skipped. If it has a document from an earlier run, the document stays. */
export function recordUnread(
  context: RunContext,
  page: StoredPage,
  outcome: 'failed' | 'skipped',
  reason: string,
): Promise<void> {
  noteReason(context.state, outcome, reason, page.url);
  return savePage(context, page, [page.document === undefined ? { ...page, state: outcome } : page]);
}

/** Counts a missing page as a failure. After `missingMax` of them, removes the page and its document. */
export async function recordMissing(context: RunContext, page: StoredPage, reason: string): Promise<void> {
  const failures = page.failures + 1;
  if (failures < missingMax || page.document === undefined) noteReason(context.state, 'failed', reason, page.url);
  if (failures < missingMax) {
    const state = page.document === undefined ? 'failed' : page.state;
    return savePage(context, page, [{ ...page, state, failures }]);
  }
  await dropDocument(context, page);
  context.links.forget(page.url);
  return savePage(context, page, [], { removed: [page.key] });
}

export async function dropDocument(context: RunContext, { url, document }: VisitedPage): Promise<void> {
  if (document === undefined) return;
  await removeDocument(context.engine, document, context.signal);
  context.texts.delete(url);
  context.state.summary.gone += 1;
}

/** Makes the page an alias of `url`. The page at `url` takes over the document, unless it already has one. */
export async function makeAlias(context: RunContext, page: StoredPage, url: string): Promise<void> {
  const { web, engine, signal, links, texts, run } = context;
  const alias: PageChange = { ...page, ...noDocument, state: 'alias', target: url };
  const urls = links.learn(url) ? [url] : [];
  if (page.document === undefined) return savePage(context, page, [alias], { links: { urls, depth: page.depth } });
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

/** The handler gets an undefined `url` if the target is not a web address. */
export function createRedirectHandler(context: RunContext) {
  const { state, run } = context;
  const { settings } = run.source;
  const hopsTo = new Map<string, number>();
  return async (page: StoredPage, url: string | undefined): Promise<void> => {
    if (url === undefined) return recordUnread(context, page, 'failed', 'bad_redirect');
    const hops = (hopsTo.get(page.url) ?? 0) + 1;
    hopsTo.set(url, hops);
    if (url === page.url || hops > redirectsMax) return recordUnread(context, page, 'failed', 'too_many_redirects');
    if (page.url === state.root && settings.listing !== 'feed') {
      state.root = url;
      context.scope = createScope(url, settings);
    }
    if (!context.scope(url)) return recordUnread(context, page, 'skipped', 'redirects_outside');
    return makeAlias(context, page, url);
  };
}

export function createRetries(context: RunContext) {
  const attempts = new Map<number, number>();
  let hostFailures = 0;
  return {
    /** Counts failures of the host in a row. Called after every request. */
    count(failed: boolean): void {
      hostFailures = failed ? hostFailures + 1 : 0;
    },
    /** Schedules another attempt, or records a failure after the last one. Throws if the host failed too often in a row. */
    async postpone(page: StoredPage, reason: string, hostWaitMs: number): Promise<void> {
      const host = await context.hostOf(page.url);
      if (hostWaitMs > 0) await host.postpone(hostWaitMs);
      if (hostFailures >= hostFailuresMax) {
        const { host: name } = new URL(page.url);
        const message = `${name} failed ${hostFailures} times in a row (${reason}). The next refresh continues from here.`;
        throw new CarrelError('fetch_failed', message);
      }
      const attempt = (attempts.get(page.key) ?? 0) + 1;
      attempts.set(page.key, attempt);
      if (attempt < attemptsMax) {
        const retryMs = Math.max(hostWaitMs, Math.max(10, 5 * host.pauseMs) * 4 ** (attempt - 1));
        return savePage(context, page, [{ ...page, retryMs }]);
      }
      context.state.visited += 1;
      return recordUnread(context, page, 'failed', reason);
    },
  };
}
