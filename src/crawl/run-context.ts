import type { Extractor } from '../documents/extractor.ts';
import type { ClaimedRun, RunProgress } from '../storage/web/runs.ts';
import type { WebStore } from '../storage/web/web.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import { createLinkChooser, type LinkChooser } from './choose-links.ts';
import type { CrawlSettings } from './crawl-slice.ts';
import type { Host, Hosts } from './hosts.ts';
import { createPageTexts, type PageTexts } from './near-duplicates.ts';
import { type RunState, stateOf } from './run-state.ts';
import { createScope, type Scope } from './scope.ts';
import type { PageEngine } from './store-page.ts';

export interface RunDeps {
  readonly web: WebStore;
  readonly engine: PageEngine;
  readonly extractor: Extractor;
  readonly fetch: SafeFetch;
  readonly hosts: Hosts;
  readonly settings: Pick<CrawlSettings, 'sourceBytesMax' | 'sourceCpuMinutes'>;
}

/** What all steps of a run share. */
export interface RunContext extends RunDeps {
  readonly run: ClaimedRun;
  /** Identifies this process in leases. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly state: RunState;
  readonly links: LinkChooser;
  readonly texts: PageTexts;
  /** Decides which URLs belong to the source. Replaced when the source's own URL redirects. */
  scope: Scope;
  hostOf(url: string): Promise<Host>;
  releaseHosts(): Promise<void>;
  progress(): RunProgress;
}

export function createRunContext(
  run: ClaimedRun,
  { owner, signal }: { owner: string; signal: AbortSignal },
  deps: RunDeps,
): RunContext {
  const { settings } = run.source;
  const state = stateOf(run);
  const links = createLinkChooser(settings.pages);
  const hosts = new Map<string, Promise<Host>>();
  return {
    ...deps,
    run,
    owner,
    signal,
    state,
    links,
    texts: createPageTexts(),
    scope: createScope(state.root, settings),
    hostOf(url) {
      const { origin } = new URL(url);
      const host = hosts.get(origin) ?? deps.hosts(origin, signal);
      hosts.set(origin, host);
      return host;
    },
    async releaseHosts() {
      const held = await Promise.allSettled(hosts.values());
      await Promise.all(held.map((host) => (host.status === 'fulfilled' ? host.value.release() : undefined)));
    },
    progress: () => ({ state: { ...state }, done: state.visited, total: Math.max(links.size, state.visited) }),
  };
}
