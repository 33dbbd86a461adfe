import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { ExtractedDocument, ListedPage } from '../documents/document.ts';
import type { Extractor } from '../documents/extractor.ts';
import type { PageChange, PageFacts, StoredPage } from '../storage/web/pages.ts';
import type { ClaimedRun, RunProgress } from '../storage/web/runs.ts';
import type { WebStore } from '../storage/web/web.ts';
import type { FetchResponse, SafeFetch } from '../web/safe-fetch.ts';
import { folderOf, normalise } from './address.ts';
import { createLinkChooser } from './choose-links.ts';
import type { CrawlSettings } from './crawl-slice.ts';
import { type Fetched, fetchPage } from './fetch-page.ts';
import type { Host, Hosts } from './hosts.ts';
import { createPageTexts, decodeSketch, encodeSketch, isNear, type Sketch, sketchOf } from './near-duplicates.ts';
import { isSitemap, type ListingDeps, readFeedPages, readSitemapPages } from './read-listing.ts';
import { noteLimit, noteReason, stateOf } from './run-state.ts';
import { createScope, type Scope } from './scope.ts';
import { moveDocument, type PageEngine, removeDocument, storePage } from './store-page.ts';

export interface RunDeps {
  readonly web: WebStore;
  readonly engine: PageEngine;
  readonly extractor: Extractor;
  readonly fetch: SafeFetch;
  readonly hosts: Hosts;
  readonly settings: Pick<CrawlSettings, 'sourceBytesMax' | 'sourceCpuMinutes'>;
}

export interface Run {
  /** Visits the pages of the source until all are visited or a limit is reached. */
  perform(): Promise<void>;
  progress(): RunProgress;
}

/** The run was cancelled, or belongs to another process. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

/** Pages that are read and stored while the next one is fetched. */
const readingMax = 4;
const redirectsMax = 5;
/** Attempts at a page that may succeed later. */
const attemptsMax = 3;
/** A host that failed this often in a row is left alone until the next refresh. */
const hostFailuresMax = 10;
/** A page that is missing this often, in as many refreshes, is gone. */
const missingMax = 2;
const pagesAtOnce = 50;

export function createRun(
  run: ClaimedRun,
  { owner, signal }: { owner: string; signal: AbortSignal },
  deps: RunDeps,
): Run {
  const { web, engine, extractor, fetch } = deps;
  const { id, source } = run;
  const { settings, tags } = source;
  const state = stateOf(run);
  const { summary } = state;
  const links = createLinkChooser(settings.pages);
  const texts = createPageTexts();
  const hosts = new Map<string, Promise<Host>>();
  const notFound = new Map<string, Promise<Sketch | undefined>>();
  const redirects = new Map<string, number>();
  const attempts = new Map<number, number>();
  const reading = new Map<number, Promise<void>>();
  let scope = createScope(state.root, settings);
  let listing: Map<string, ListedPage> | undefined;
  let hostFailures = 0;
  let failure: { readonly error: unknown } | undefined;

  const hostOf = (url: string): Promise<Host> => {
    const { origin } = new URL(url);
    const host = hosts.get(origin) ?? deps.hosts(origin, signal);
    hosts.set(origin, host);
    return host;
  };

  return {
    progress,
    async perform() {
      try {
        await prepare();
        await visitAll();
      } finally {
        await Promise.allSettled(reading.values());
        const held = await Promise.allSettled(hosts.values());
        await Promise.all(held.map((host) => (host.status === 'fulfilled' ? host.value.release() : undefined)));
      }
    },
  };

  function progress(): RunProgress {
    return { state: { ...state }, done: state.visited, total: Math.max(links.size, state.visited) };
  }

  async function prepare(): Promise<void> {
    for (const page of await web.overview({ source: source.id })) {
      links.learn(page.url);
      if (page.state === 'stored' && page.textHash !== undefined && page.sketch !== undefined) {
        texts.set(page.url, page.textHash, decodeSketch(page.sketch));
      }
    }
    const listingDeps: ListingDeps = { fetch, extractor, hostOf };
    if (settings.listing === 'feed') listing = await readFeedPages(source.url, listingDeps, signal);
    if (settings.listing === 'sitemap')
      listing = await readSitemapPages(source.url, settings.pages, listingDeps, signal);
    const isPage = settings.listing === undefined || (settings.follows && !isSitemap(source.url));
    const first = isPage ? [source.url] : [];
    await addLinks([...first, ...(listing?.keys() ?? [])], (url) => url === source.url || scope(url));
  }

  async function visitAll(): Promise<void> {
    let after = state.cursor;
    let waiting: StoredPage[] = [];
    for (;;) {
      signal.throwIfAborted();
      if (failure !== undefined) throw failure.error;
      if (isOverLimit()) return;
      // Before the look: a page that ends meanwhile may have links that the look did not see.
      const isReading = reading.size > 0;
      if (waiting.length === 0) waiting = await web.pages({ source: source.id, after, limit: pagesAtOnce });
      const page = waiting.shift();
      if (page !== undefined) {
        after = page.key;
        // An earlier process of this run has saved it, or a retry is waiting.
        if (page.run !== id && !isSettled(page)) await visit(page);
      } else if (isReading) {
        if (reading.size > 0) await Promise.race(reading.values());
      } else if (!(await retry())) return;
      state.cursor = Math.min(after, ...[...reading.keys()].map((key) => key - 1));
    }
  }

  /** Whether the listing says that there is nothing to look for. Old entries of a feed stay as they are. */
  function isSettled({ url, state: before, listedAt }: StoredPage): boolean {
    const listed = listing?.get(url);
    if (listed === undefined) return settings.listing === 'feed';
    if (listed.changed === undefined || listed.changed !== listedAt || before === 'failed') return false;
    summary.unchanged += 1;
    state.visited += 1;
    return true;
  }

  /** Tries the first page again that waits for it. False: none does. */
  async function retry(): Promise<boolean> {
    const [next] = await web.retried({ source: source.id, run: id });
    if (next === undefined) return false;
    await delay(next.waitMs, undefined, { signal });
    await visit(next.page);
    await Promise.all(reading.values());
    return true;
  }

  /** Resolves when the page is fetched; it is read while the next one is fetched. */
  async function visit(page: StoredPage): Promise<void> {
    const { key, url } = page;
    const listed = listing?.get(url);
    const fetching = fetchOne(page);
    const ended = fetching
      .then((fetched) => settle({ ...page, listedAt: listed?.changed ?? page.listedAt }, fetched))
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
      // Without its own host, a source has nothing to do.
      if (!isCarrelError(error) || new URL(url).origin === new URL(state.root).origin) throw error;
    });
    if (rules === undefined) return { outcome: 'failed', reason: 'robots_unreachable' };
    if (!rules.allows(url)) return { outcome: 'skipped', reason: 'robots' };
    const validators = {
      ...(etag === undefined ? {} : { etag }),
      ...(lastModified === undefined ? {} : { lastModified }),
    };
    const fetched = await host.request(signal, () => fetchPage(fetch, url, { validators, signal }));
    hostFailures = fetched.outcome === 'later' ? hostFailures + 1 : 0;
    return fetched;
  }

  async function settle(page: StoredPage, fetched: Fetched): Promise<void> {
    if (fetched.outcome !== 'later') state.visited += 1;
    switch (fetched.outcome) {
      case 'unchanged':
        summary.unchanged += 1;
        return save(page, [{ ...page, failures: 0 }]);
      case 'gone':
        return missing(page, 'status 404');
      case 'moved':
        return moved(page, normalise(fetched.url));
      case 'skipped':
      case 'failed':
        return leaveOut(page, fetched.outcome, fetched.reason);
      case 'later':
        return later(page, fetched.reason, fetched.hostWaitMs);
      case 'page':
        return read(page, fetched);
    }
  }

  async function later(page: StoredPage, reason: string, hostWaitMs: number): Promise<void> {
    const host = await hostOf(page.url);
    if (hostWaitMs > 0) await host.postpone(hostWaitMs);
    const { host: name } = new URL(page.url);
    if (hostFailures >= hostFailuresMax) {
      throw new CarrelError(
        'fetch_failed',
        `${name} failed ${hostFailures} times in a row (${reason}). The next refresh goes on.`,
      );
    }
    const attempt = (attempts.get(page.key) ?? 0) + 1;
    attempts.set(page.key, attempt);
    if (attempt < attemptsMax) {
      const retryMs = Math.max(hostWaitMs, Math.max(10, 5 * host.pauseMs) * 4 ** (attempt - 1));
      return save(page, [{ ...page, retryMs }]);
    }
    state.visited += 1;
    return leaveOut(page, 'failed', reason);
  }

  /** A document that the page has stays until the page is gone. */
  async function leaveOut(page: StoredPage, outcome: 'failed' | 'skipped', reason: string): Promise<void> {
    noteReason(state, outcome, reason, page.url);
    return save(page, [page.document === undefined ? { ...page, state: outcome } : page]);
  }

  async function missing(page: StoredPage, reason: string): Promise<void> {
    const failures = page.failures + 1;
    if (failures < missingMax) {
      noteReason(state, 'failed', reason, page.url);
      return save(page, [{ ...page, state: page.document === undefined ? 'failed' : page.state, failures }]);
    }
    if (page.document === undefined) noteReason(state, 'failed', reason, page.url);
    await dropDocument(page);
    links.forget(page.url);
    return save(page, [], { removed: [page.key] });
  }

  async function dropDocument({ url, document }: PageFacts): Promise<void> {
    if (document === undefined) return;
    await removeDocument(engine, document, signal);
    texts.delete(url);
    summary.gone += 1;
  }

  async function moved(page: StoredPage, url: string | undefined): Promise<void> {
    if (url === undefined) return leaveOut(page, 'failed', 'bad_redirect');
    const hops = (redirects.get(page.url) ?? 0) + 1;
    redirects.set(url, hops);
    if (url === page.url || hops > redirectsMax) return leaveOut(page, 'failed', 'too_many_redirects');
    if (page.url === state.root && settings.listing !== 'feed') {
      state.root = url;
      scope = createScope(url, settings);
    }
    if (!scope(url)) return leaveOut(page, 'skipped', 'redirects_outside');
    return leadTo(page, url);
  }

  /** The page leaves its text to another one, which takes over its document unless it has its own. */
  async function leadTo(page: StoredPage, url: string): Promise<void> {
    const alias: PageChange = {
      ...page,
      state: 'alias',
      target: url,
      document: undefined,
      textHash: undefined,
      sketch: undefined,
    };
    const fresh = links.learn(url) ? [url] : [];
    if (page.document === undefined) return save(page, [alias], { urls: fresh, depth: page.depth });
    const [target] = await web.byUrl({ source: source.id, urls: [url] });
    if (target?.document !== undefined) {
      await dropDocument(page);
      return save(page, [alias]);
    }
    await moveDocument(engine, page.document, url, signal);
    texts.delete(page.url);
    const heir: PageChange = { ...page, url, state: 'stored', etag: undefined, lastModified: undefined, retryMs: 0 };
    return save(page, [alias, heir]);
  }

  async function read(page: StoredPage, fetched: Fetched & { outcome: 'page' }): Promise<void> {
    const { response } = fetched;
    summary.bytes += response.body.length;
    const document = await extract(response);
    if (typeof document === 'string') return leaveOut(page, unreadable.has(document) ? 'skipped' : 'failed', document);
    const { links: asked } = document;
    const found = asked === undefined || asked.nofollow || fetched.nofollow ? [] : asked.urls;
    const facts = {
      ...page,
      failures: 0,
      etag: response.headers['etag'],
      lastModified: response.headers['last-modified'],
    };
    const canonical = asked?.canonical == null ? undefined : normalise(asked.canonical);
    if (canonical !== undefined && canonical !== page.url && (await isBetter(canonical))) {
      return leadTo(facts, canonical);
    }
    // Not before they are saved: links of pages that are left out are new to others.
    const fresh = () => ({ urls: chosen(page, found), depth: page.depth + 1 });
    if (fetched.noindex || asked?.noindex === true) {
      noteReason(state, 'skipped', 'noindex', page.url);
      await dropDocument(page);
      return save(
        page,
        [{ ...facts, state: 'skipped', document: undefined, textHash: undefined, sketch: undefined }],
        fresh(),
      );
    }
    if (document.text.trim() === '') {
      noteReason(state, 'skipped', 'no_text_in_document', page.url);
      return save(page, [page.document === undefined ? { ...facts, state: 'skipped' } : facts], fresh());
    }
    const text = visibleText(document.text);
    const textHash = createHash('sha256').update(text).digest('hex');
    if (textHash === page.textHash && page.state === 'stored') {
      summary.unchanged += 1;
      return save(page, [facts], fresh());
    }
    const sketch = sketchOf(text);
    if (page.url !== state.root && (await isNotFoundPage(page.url, sketch))) return missing(page, 'soft 404');
    const twin = page.document === undefined ? texts.find(page.url, textHash, sketch) : undefined;
    // Reserved before the next page is compared. Links of a duplicate are not followed: they may go on forever.
    if (twin === undefined) texts.set(page.url, textHash, sketch);
    const changed: PageFacts = { ...facts, textHash, sketch: encodeSketch(sketch) };
    if (twin !== undefined) return duplicate(page, { ...changed, target: twin });
    return keep(page, changed, response, fresh);
  }

  async function duplicate(page: StoredPage, changed: PageFacts): Promise<void> {
    summary.duplicates += 1;
    return save(page, [{ ...changed, state: 'duplicate', document: undefined }]);
  }

  async function keep(
    page: StoredPage,
    changed: PageFacts,
    response: FetchResponse,
    fresh: () => FoundLinks,
  ): Promise<void> {
    const { body: bytes, contentType } = response;
    const stored = await storePage(
      engine,
      { url: page.url, bytes, contentType, tags, title: settings.title, document: page.document },
      signal,
    );
    if (stored.outcome !== 'stored') texts.delete(page.url);
    switch (stored.outcome) {
      case 'stored':
        summary[stored.as] += 1;
        return save(page, [{ ...changed, state: 'stored', document: stored.document, target: undefined }], fresh());
      case 'duplicate':
        await dropDocument(page);
        return duplicate(page, changed);
      case 'failed':
        noteReason(state, 'failed', stored.reason, page.url);
        return save(page, [{ ...page, state: page.document === undefined ? 'failed' : page.state }], fresh());
    }
  }

  /** The document, or the code of why there is none. */
  async function extract({ body, url, contentType }: FetchResponse): Promise<ExtractedDocument | string> {
    const type = contentType === undefined ? {} : { contentType };
    // The same extent as the engine's, so that an unchanged text is an unchanged document.
    const page = { bytes: body, url, mode: 'markdown', extent: 'page', links: true, ...type } as const;
    for (;;) {
      try {
        const document = await extractor.extract(page, { signal });
        addCpu(document.cpuMs ?? 0);
        return document;
      } catch (error) {
        signal.throwIfAborted();
        if (!isCarrelError(error) || error.code === 'unavailable') throw error;
        if (error.code !== 'too_many_in_flight') {
          const { cpuMsMax } = error.data;
          addCpu(typeof cpuMsMax === 'number' ? cpuMsMax : 0);
          return error.code;
        }
        await delay(200, undefined, { signal });
      }
    }
  }

  function addCpu(ms: number): void {
    state.cpuMs += ms;
    summary.cpu_seconds = Math.round(state.cpuMs / 100) / 10;
  }

  /** A canonical page that is not itself a dead end. */
  async function isBetter(url: string): Promise<boolean> {
    if (!scope(url)) return false;
    const [known] = await web.byUrl({ source: source.id, urls: [url] });
    return known?.state !== 'alias' && known?.state !== 'failed';
  }

  /** Whether the host shows the same for an address that cannot exist. Asked once, and only where links are followed. */
  async function isNotFoundPage(url: string, sketch: Sketch): Promise<boolean> {
    if (!settings.follows && settings.listing !== 'sitemap') return false;
    const folder = folderOf(state.root);
    if (!url.startsWith(folder)) return false;
    const asking = notFound.get(folder) ?? probe(`${folder}carrel-${randomBytes(8).toString('hex')}`);
    notFound.set(folder, asking);
    const shown = await asking;
    return shown !== undefined && isNear(shown, sketch);
  }

  async function probe(url: string): Promise<Sketch | undefined> {
    const host = await hostOf(url);
    if (!(await host.robots(signal)).allows(url)) return undefined;
    const fetched = await host.request(signal, () => fetchPage(fetch, url, { validators: {}, signal }));
    const document = fetched.outcome === 'page' ? await extract(fetched.response) : undefined;
    return typeof document === 'object' ? sketchOf(visibleText(document.text)) : undefined;
  }

  /** Links that are new to the source and may be followed. */
  function chosen(page: StoredPage, found: readonly string[]): string[] {
    if (!settings.follows || found.length === 0) return [];
    const isDeep = page.depth >= settings.depth;
    const { fresh, counted } = links.choose(found, scope);
    if (counted > 0) noteLimit(state, 'calendar');
    if (!isDeep) return fresh;
    if (fresh.length > 0) noteLimit(state, 'depth');
    for (const url of fresh) links.forget(url);
    return [];
  }

  function isOverLimit(): boolean {
    if (summary.bytes > deps.settings.sourceBytesMax) noteLimit(state, 'bytes');
    if (state.cpuMs > deps.settings.sourceCpuMinutes * 60_000) noteLimit(state, 'cpu');
    return summary.limits.some((limit) => limit === 'bytes' || limit === 'cpu');
  }

  async function addLinks(urls: readonly string[], allowed: Scope): Promise<void> {
    const { fresh } = links.choose(urls, allowed);
    if (fresh.length > 0) await saveAll([], { urls: fresh, depth: 0 });
  }

  /** A page that is as it was needs no write. */
  async function save(
    page: StoredPage,
    changes: readonly PageChange[],
    more: Partial<FoundLinks> & Removed = {},
  ): Promise<void> {
    const isSame = changes.every((change) => change.url === page.url && isUnchanged(page, change));
    if (isSame && (more.urls ?? []).length === 0 && more.removed === undefined) return;
    const { urls = [], depth = 0, removed } = more;
    await saveAll(changes, urls.length === 0 ? undefined : { urls, depth }, removed);
  }

  async function saveAll(pages: readonly PageChange[], found?: FoundLinks, removed?: readonly number[]): Promise<void> {
    const pagesMax = settings.listing === 'feed' ? Number.MAX_SAFE_INTEGER : settings.pages;
    const saved = await web.save({
      ...{ id, owner, source: source.id, pages, removed, progress: progress() },
      links: found && { ...found, pagesMax },
    });
    if (saved === undefined) throw new RunLost();
    if (saved.dropped > 0) noteLimit(state, 'pages');
  }
}

interface FoundLinks {
  readonly urls: readonly string[];
  readonly depth: number;
}

interface Removed {
  readonly removed?: readonly number[];
}

/** Without the addresses of links: some sites write another session id into them each time. */
function visibleText(markdown: string): string {
  return markdown.replaceAll(/\]\((?:[^()\s]|\([^()\s]*\))*\)/g, ']');
}

/** Codes of documents that are as they should be, but have no text for us. */
const unreadable = new Set(['unsupported_content_type', 'encrypted_document', 'no_text_in_document']);

const comparedFacts = ['state', 'document', 'etag', 'lastModified', 'textHash', 'target', 'failures'] as const;

function isUnchanged(page: StoredPage, change: PageChange): boolean {
  return !page.isRetried && change.retryMs === undefined && comparedFacts.every((fact) => page[fact] === change[fact]);
}
