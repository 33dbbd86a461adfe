import type { Extractor } from '../documents/extractor.ts';
import type { PageChange, StoredPage } from '../storage/web/pages.ts';
import type { ClaimedRun, RunProgress } from '../storage/web/runs.ts';
import type { WebStore } from '../storage/web/web-store.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import type { CrawlSettings } from './crawl-slice.ts';
import type { Host, Hosts } from './hosts.ts';
import { createLinkChooser, createScope } from './links.ts';
import type { PageText } from './near-duplicates.ts';
import type { PageEngine } from './store-page.ts';

export interface RunDeps {
  readonly web: WebStore;
  readonly engine: PageEngine;
  readonly extractor: Extractor;
  readonly fetch: SafeFetch;
  readonly hosts: Hosts;
  readonly settings: Pick<CrawlSettings, 'sourceBytesMax' | 'sourceCpuMinutes'>;
}

export type RunContext = ReturnType<typeof createRunContext>;

/** Creates the state that all steps of a run share. `owner` identifies this process in leases. */
export function createRunContext(run: ClaimedRun, lease: { owner: string; signal: AbortSignal }, deps: RunDeps) {
  const { settings } = run.source;
  const state = stateOf(run);
  const links = createLinkChooser(settings.pages);
  const hosts = new Map<string, Promise<Host>>();
  return {
    ...deps,
    ...lease,
    run,
    state,
    links,
    /** Texts of the source's pages, by URL. */
    texts: new Map<string, PageText>(),
    /** Replaced when the source's own URL redirects. */
    scope: createScope(state.root, settings),
    hostOf(url: string): Promise<Host> {
      const { origin } = new URL(url);
      const host = hosts.get(origin) ?? deps.hosts(origin, lease.signal);
      hosts.set(origin, host);
      return host;
    },
    async releaseHosts(): Promise<void> {
      const leased = await Promise.allSettled(hosts.values());
      await Promise.all(leased.map((host) => (host.status === 'fulfilled' ? host.value.release() : undefined)));
    },
    progress: (): RunProgress => ({
      state: { ...state },
      done: state.visited,
      total: Math.max(links.size, state.visited),
    }),
  };
}

/** Summary of a run, shown to people. */
interface RunSummary {
  new: number;
  changed: number;
  unchanged: number;
  /** Documents moved to the trash because their page was missing twice, or no longer allows indexing. */
  gone: number;
  /** Pages with nearly the same text as another one. */
  duplicates: number;
  failed: number;
  /** Pages that robots.txt or the page itself excludes, or that have no text. */
  skipped: number;
  /** Why pages failed or were skipped. */
  reasons: { reason: string; pages: number; example: string }[];
  /** Limits that were reached: `pages`, `depth`, `bytes`, `cpu` or `calendar` (too many URLs of one pattern). */
  limits: string[];
  bytes: number;
  cpu_seconds: number;
}

/** Everything that another process needs to continue the run. */
interface RunState {
  readonly source: number;
  /** All pages up to this key have been visited. */
  cursor: number;
  /** The source's URL, after redirects. */
  root: string;
  visited: number;
  cpuMs: number;
  summary: RunSummary;
}

function stateOf({ source, state }: ClaimedRun): RunState {
  return {
    source: source.id,
    cursor: 0,
    root: source.url,
    visited: 0,
    cpuMs: 0,
    summary: {
      new: 0,
      changed: 0,
      unchanged: 0,
      gone: 0,
      duplicates: 0,
      failed: 0,
      skipped: 0,
      reasons: [],
      limits: [],
      bytes: 0,
      cpu_seconds: 0,
    },
    // Empty for a new run.
    ...(state as Partial<RunState>),
  };
}

const reasonsMax = 20;

export function noteReason({ summary }: RunState, outcome: 'failed' | 'skipped', reason: string, url: string): void {
  summary[outcome] += 1;
  const entry = summary.reasons.find((each) => each.reason === reason);
  if (entry !== undefined) entry.pages += 1;
  else if (summary.reasons.length < reasonsMax) summary.reasons.push({ reason, pages: 1, example: url });
}

export function noteLimit({ summary }: RunState, limit: string): void {
  if (!summary.limits.includes(limit)) summary.limits.push(limit);
}

/** Thrown if the run was cancelled, or now belongs to another process. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

export interface FoundLinks {
  readonly urls: readonly string[];
  readonly depth: number;
}

/** Saves a page's outcome and links. Writes nothing if both are unchanged. `removed` lists keys of pages to delete. */
export async function savePage(
  context: RunContext,
  page: StoredPage,
  changes: readonly PageChange[],
  { links, removed }: { links?: FoundLinks; removed?: readonly number[] } = {},
): Promise<void> {
  const newLinks = links?.urls.length === 0 ? undefined : links;
  const isSame = changes.every((change) => change.url === page.url && isUnchanged(page, change));
  if (!isSame || newLinks !== undefined || removed !== undefined) await savePages(context, changes, newLinks, removed);
}

/** Saves pages with the progress of the run. Throws `RunLost` if the run no longer belongs to this process. */
export async function savePages(
  { web, owner, run, state, progress }: RunContext,
  pages: readonly PageChange[],
  links?: FoundLinks,
  removed?: readonly number[],
): Promise<void> {
  const { id, source } = run;
  const pagesMax = source.settings.listing === 'feed' ? Number.MAX_SAFE_INTEGER : source.settings.pages;
  const saved = await web.save({
    id,
    owner,
    source: source.id,
    pages,
    removed,
    progress: progress(),
    links: links && { ...links, pagesMax },
  });
  if (saved === undefined) throw new RunLost();
  if (saved.dropped > 0) noteLimit(state, 'pages');
}

const comparedFields = ['state', 'document', 'etag', 'lastModified', 'textHash', 'target', 'failures'] as const;

function isUnchanged(page: StoredPage, change: PageChange): boolean {
  const isRetried = page.retryAt !== undefined || change.retryMs !== undefined;
  return !isRetried && comparedFields.every((field) => page[field] === change[field]);
}
