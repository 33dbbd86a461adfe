import { availableParallelism } from 'node:os';
import { isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createExtractor } from '../../documents/extractor.ts';
import type { CallJobs } from '../../jobs/call-jobs.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createSafeFetch } from '../../web/safe-fetch.ts';
import { parseTargetList } from '../../web/target-list.ts';
import { createDocumentContent } from './document-content.ts';
import { createDocumentReader } from './document-reader.ts';
import { createDocumentResources } from './document-resources.ts';
import { createCitableDocuments, createDomainSource } from './domain-source.ts';
import { createFessApi, type DetectingFessApi } from './fess-api/create-fess-api.ts';
import { faultOf } from './fess-api/fess-errors.ts';
import { domainInfo, type KnowledgeDomain } from './knowledge-domain.ts';
import { createPrompts } from './prompts.ts';
import type { FessConfig } from './read-fess-config.ts';
import {
  createHealthTool,
  createJobGetTool,
  createListLabelsTool,
  createPopularWordsTool,
  createReadTool,
  createSuggestTool,
} from './tools/domain-tools.ts';
import { createSearchTool } from './tools/search.ts';

export interface FessToolsetDeps {
  jobs: CallJobs;
  log: Logger;
  /** This program's own addresses, which are never fetched. */
  ownTargets: readonly string[];
}

/** Max queued requests per request in flight. Further requests are rejected. */
const queuedPerRequest = 8;

/**
 * Creates the bridge to Fess: tools, resources and prompts of every configured domain. Names, fields and errors follow the
 * functional requirements of the MCP-Fess bridge server ("the MCP-Fess specification").
 */
export function createFessToolset(config: FessConfig, { jobs, log, ownTargets }: FessToolsetDeps): Toolset {
  const { limits, timeouts } = config;
  const api = createApi(config, log);
  const extractor = createFessExtractor(config);
  const fetch = createSafeFetch(fetchRules(config, ownTargets));
  const content = createDocumentContent(config, { api, fetch, extractor });
  const pageSizeMax = limits.maxPageSize;

  const domains = config.knowledgeDomains.map((domain) => {
    const label = domain.labelFilter;
    const documents = createDocumentReader({ api, content, domain, chunkBytesMax: limits.maxChunkBytes });
    const tools = [
      createSearchTool({ label, pageSizeMax }, api),
      createSuggestTool({ label }, api),
      createPopularWordsTool({ label }, api),
      createListLabelsTool(api),
      createHealthTool(api),
      createJobGetTool(jobs),
      createReadTool(documents),
    ];
    return {
      tools: tools.map((tool) => addDomain(tool, domain, config.knowledgeDomains.length > 1)),
      resources: createDocumentResources({ api, documents, domain, pageSizeMax }),
      citable: createCitableDocuments(documents, domain),
      prompts: createPrompts(api, domain),
      source: createDomainSource(api, domain),
    };
  });

  void checkFess(api, config, log);
  return {
    name: 'fess',
    tools: domains.flatMap(({ tools }) => tools),
    resources: domains.map(({ resources }) => resources),
    citable: domains.map(({ citable }) => citable),
    prompts: domains.flatMap(({ prompts }) => prompts),
    sources: domains.map(({ source }) => source),
    failures: { as: 'jsonrpc' },
    listsBounds: true,
    slowCallMs: timeouts.longRunningThresholdMs,
    inFlight: {
      runningMax: limits.maxInFlightRequests,
      waitingMax: limits.maxInFlightRequests * queuedPerRequest,
    },
    announce: announcement(config.knowledgeDomains),
    health: () => ({ fess: { domains: config.knowledgeDomains.map(({ id }) => id) } }),
    async close() {
      api.close();
      await extractor.close();
    },
  };
}

/** Adds the domain to a tool: its slug to the name, and its block to the end of the description. */
function addDomain(tool: Tool, { slug, block, name }: KnowledgeDomain, isOneOfSeveral: boolean): Tool {
  return {
    ...tool,
    name: `fess_${slug}_${tool.name}`,
    title: isOneOfSeveral ? `${tool.title} (${name})` : tool.title,
    description: `${tool.description}\n\n${block}`,
  };
}

/** Returns the domains for `serverInfo` and the capabilities. `domains` is present only if there are several. */
function announcement(domains: readonly KnowledgeDomain[]): NonNullable<Toolset['announce']> {
  const [first] = domains;
  const domain = first === undefined ? {} : domainInfo(first);
  if (domains.length < 2) return { serverInfo: { domain }, experimental: { domain } };
  return {
    serverInfo: { domain, domains: domains.map(domainInfo) },
    experimental: { domain, domains: Object.fromEntries(domains.map((each) => [each.slug, domainInfo(each)])) },
  };
}

function createApi({ fessBaseUrl, fessApi, fessAccessToken, timeouts, contentFetch }: FessConfig, log: Logger) {
  return createFessApi(
    {
      baseUrl: fessBaseUrl,
      fessApi,
      ...(fessAccessToken === undefined ? {} : { accessToken: fessAccessToken.reveal() }),
      userAgent: contentFetch.userAgent,
      timeoutMs: timeouts.fessRequestTimeoutMs,
    },
    {
      onVersion: (version) => log.info('detected the API version of Fess', { version }),
      onRefusal: (refusal) => log.warn('Fess refused a request although its engine is up', { ...refusal }),
      onLabelOptional: () =>
        log.warn(
          'Fess treated the label or the query as optional; queries are now sent in a stricter form. Set query.orsearch.min.hit.count to -1 in Fess',
        ),
    },
  );
}

function fetchRules({ contentFetch }: FessConfig, ownTargets: readonly string[]) {
  const allowed = parseTargetList(contentFetch.allowedHostAllowlist);
  return {
    schemes: contentFetch.allowedSchemes,
    // If hosts are listed, only these may be fetched, and they may be private.
    onlyHosts: allowed,
    allowPrivate: allowed,
    refused: parseTargetList(ownTargets),
    allowPrivateNetworks: contentFetch.allowPrivateNetworkTargets,
    userAgent: contentFetch.userAgent,
    bytesMax: contentFetch.maxBytes,
    timeoutMs: contentFetch.timeoutMs,
  };
}

function createFessExtractor({ contentFetch }: FessConfig) {
  return createExtractor({
    cpuMsMax: 30_000,
    memoryMb: 512,
    workersMax: Math.max(1, Math.min(4, availableParallelism() - 1)),
    bytesMax: contentFetch.maxBytes,
    // At least the fetch limit, so that chunks can return a whole document.
    textCharsMax: Math.max(contentFetch.maxBytes, 8 * 1024 * 1024),
    pdfEnabled: contentFetch.enablePdf,
  });
}

/** Checks at start whether Fess responds and accepts the token. Only logs warnings, because Fess may recover. */
async function checkFess(api: DetectingFessApi, config: FessConfig, log: Logger): Promise<void> {
  const { fessBaseUrl, fessAccessToken } = config;
  const { host } = new URL(fessBaseUrl);
  const version = await api.detect().catch((error: unknown) => {
    const isTimeout = isCarrelError(error) && error.code === 'fess_timeout';
    const event = isTimeout ? 'Fess did not answer in time' : 'Fess cannot be reached';
    log.warn(`${event}; requests fail until it responds. Check fessBaseUrl and the server`, { host });
    return null;
  });
  if (version === undefined)
    log.warn('The server at fessBaseUrl has no Fess search API; requests will fail. Check fessBaseUrl and fessApi', {
      host,
    });
  if (version === undefined || version === null) return;
  log.info('Fess is reachable', { version });
  if (fessAccessToken === undefined) return;
  // Checks the token with `labels`: health needs no token, and a search with a bad one may just find nothing.
  await api.labels().catch((error: unknown) => {
    if (faultOf(error) === 'refused_token') log.warn('Fess rejects the access token; check fessAccessToken');
  });
}
