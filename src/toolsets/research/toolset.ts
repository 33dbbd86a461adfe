import { CarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import { createSharedWindow } from '../../base/shared-window.ts';
import { createSlidingWindow } from '../../base/sliding-window.ts';
import type { Extractor } from '../../documents/extractor.ts';
import { rerankerWithoutModel } from '../../search/rerank/open-reranker.ts';
import type { Reranker } from '../../search/rerank/reranker.ts';
import type { NoteStore } from '../../storage/notes/notes.ts';
import type { Toolset } from '../../tools/toolset.ts';
import type { SafeFetch, SafeFetchConfig } from '../../web/safe-fetch.ts';
import { parseTargetList } from '../../web/target-list.ts';
import { createNoteResources } from './note-resources.ts';
import { createPageReader } from './page-reader.ts';
import type { ResearchConfig } from './research-slice.ts';
import { createCitableNotes, createCitablePages, createNotesSource, createWebSource } from './sources.ts';
import { createFetchPageTool } from './tools/fetch-page.ts';
import { createListNotesTool } from './tools/list-notes.ts';
import {
  createDeleteNoteTool,
  createGetNoteTool,
  createNoteConsoleTools,
  createSaveNoteTool,
  createUpdateNoteTool,
} from './tools/note-tools.ts';
import { createWebSearchTool } from './tools/web-search.ts';
import { createProviders } from './web-search/create-providers.ts';
import { createProviderChain } from './web-search/provider-chain.ts';

export interface ResearchDeps {
  notes: NoteStore;
  extractor: Extractor;
  /** If undefined, nothing is reranked. */
  reranker?: Reranker | undefined;
  log: Logger;
  /** Counts calls across processes. If undefined, each process counts alone. */
  shared?: SharedStore | undefined;
  /** This program's own addresses (`host:port`), which are never fetched. */
  ownTargets?: readonly string[];
  /** Releases the dependencies above. */
  close?: () => Promise<void>;
}

const minuteMs = 60_000;
const pageCache = { bytesMax: 32 * 1024 * 1024, entriesMax: 256 };

/** Creates the toolset for web search, web pages and notes. */
export function createResearchToolset(config: ResearchConfig, deps: ResearchDeps): Toolset {
  const { notes, extractor, log, reranker = rerankerWithoutModel() } = deps;
  const chain = createProviderChain(
    { chosen: config.searchProvider, fallback: config.searchFallback },
    { providers: createProviders(config), log },
  );
  const pages = createPageReader({ fetch: createFetch(config, deps.ownTargets ?? []), extractor });
  const resultsMax = config.maxSearchResults;
  const quotas = {
    search: createQuota('search', config.rateLimitSearch, deps.shared),
    fetch: createQuota('fetch', config.rateLimitFetch, deps.shared),
    notes: createQuota('notes', config.rateLimitNotes, deps.shared),
  };
  return {
    name: 'research',
    tools: [
      createWebSearchTool({ resultsMax }, chain),
      createFetchPageTool({ pageCharsMax: config.maxPageSize }, pages),
      createSaveNoteTool(notes),
      createListNotesTool(notes, reranker),
      createGetNoteTool(notes),
      createUpdateNoteTool(notes),
      createDeleteNoteTool(notes),
    ],
    consoleTools: createNoteConsoleTools(notes),
    // The specification of the research tools demands -32000 for every failed tool call, with our code in `data`.
    failures: { as: 'jsonrpc', codes: { input: -32_000, limit: -32_000, not_found: -32_000 } },
    quotas,
    resources: [createNoteResources(notes)],
    citable: [createCitableNotes(notes), createCitablePages(quotas.fetch, pages)],
    sources: [createNotesSource(notes, reranker), createWebSource({ resultsMax, quota: quotas.search }, chain)],
    health: () => ({ search_provider: chain.chosen }),
    translate: toSpecError,
    ...(deps.close ? { close: deps.close } : {}),
  };
}

function createQuota(category: string, limit: number, shared: SharedStore | undefined) {
  const bounds = { limit, windowMs: minuteMs };
  const window = shared ? createSharedWindow(shared, `research ${category}`, bounds) : createSlidingWindow(bounds);
  return { ...bounds, window };
}

function createFetch(config: ResearchConfig, ownTargets: readonly string[]): SafeFetch {
  const settings = {
    userAgent: config.userAgent,
    timeoutMs: config.fetchTimeoutMs,
    bytesMax: config.fetchBytesMax,
    allowPrivate: parseTargetList(config.fetchAllowPrivate),
    refused: parseTargetList(ownTargets),
  };
  let loaded: Promise<SafeFetch> | undefined;
  return async (url, request) => {
    loaded ??= loadFetch(settings);
    return (await loaded)(url, request);
  };
}

/** Loads the code on first use, because it pulls in most of Node's network code. */
async function loadFetch(config: SafeFetchConfig): Promise<SafeFetch> {
  const [{ createSafeFetch }, { createPageCache }] = await Promise.all([
    import('../../web/safe-fetch.ts'),
    import('../../web/page-cache.ts'),
  ]);
  return createPageCache(pageCache, { safeFetch: createSafeFetch(config) });
}

/**
 * Adapts an error to the specification of the research tools. It defines `data: {code, details}` for every error, and the
 * exact message for an exceeded rate limit.
 */
function toSpecError(error: CarrelError): CarrelError {
  const { code, message, data, cause, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfter: retryAfterSeconds };
  return new CarrelError(code, code === 'rate_limit_exceeded' ? 'Rate limit exceeded' : message, {
    cause,
    data: 'details' in data ? data : { details: { ...data, ...retry } },
  });
}
