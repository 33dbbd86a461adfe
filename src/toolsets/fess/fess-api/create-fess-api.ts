import { parseBoundedJson } from '../../../base/bounded-json.ts';
import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import {
  askFess,
  askHealth,
  dialectV1,
  dialectV2,
  type FessDialect,
  type FessRefusal,
  type FessServer,
  ruleOutOutage,
} from './ask-fess.ts';
import type {
  FessApi,
  FessApiVersion,
  FessCallOptions,
  FessContentOptions,
  FessDocument,
  FessLabel,
  FessOriginal,
  FessSuggestion,
} from './fess-api.ts';
import { createFessClient, type FessClient, type FessClientConfig, jsonObject, statusError } from './fess-client.ts';
import { faultOf, fessError } from './fess-errors.ts';
import { strings } from './read-search-answer.ts';
import { findDocument, searchInLabel } from './search-in-label.ts';
import { popularWordsParameters, suggestParameters } from './search-parameters.ts';

interface FessApiConfig extends FessClientConfig {
  /** `auto` detects the version, and tries v1 first. */
  fessApi?: 'auto' | FessApiVersion;
}

interface FessApiDeps {
  /** Called when the server turns out to use the other version. */
  onVersion?: (version: FessApiVersion) => void;
  /** Called when the server treats the label as optional; see `search-in-label.ts`. */
  onLabelOptional?: () => void;
  /** Called when the server rejects a request although its engine is up. */
  onRefusal?: (refusal: FessRefusal) => void;
}

export interface DetectingFessApi extends FessApi {
  /** Detects the API version. Undefined if the server has no Fess API. Throws if it does not respond. */
  detect(): Promise<FessApiVersion | undefined>;
  close(): void;
}

/**
 * Creates the client of a Fess server of any version. Fess has API v1 before 15.7, and v2 since then. It answers requests
 * for the missing version with a redirect to an HTML page. A call that finds no API therefore tries the other version.
 */
export function createFessApi(config: FessApiConfig, deps: FessApiDeps = {}): DetectingFessApi {
  const client = createFessClient(config);
  const serverOf = (dialect: FessDialect): FessServer => ({
    client,
    dialect,
    treatsLabelAsOptional: false,
    onLabelOptional: () => deps.onLabelOptional?.(),
    onRefusal: (refusal) => deps.onRefusal?.(refusal),
  });
  const servers = { v1: serverOf(dialectV1), v2: serverOf(dialectV2) };
  const setting = config.fessApi ?? 'auto';
  let version: FessApiVersion = setting === 'auto' ? 'v1' : setting;
  /** Documents that `document()` found in their label. Only these may be read, because `/cache` and `/go` check no label. */
  const lookedUp = new WeakSet<FessDocument>();
  const assertLookedUp = (document: FessDocument) => {
    if (!lookedUp.has(document))
      throw new CarrelError('internal', 'The document was not looked up with its label first.');
  };

  const setVersion = (next: FessApiVersion) => {
    if (next !== version) deps.onVersion?.(next);
    version = next;
  };

  async function call<T>(run: (server: FessServer) => Promise<T>, options: FessCallOptions = {}): Promise<T> {
    const tried = version;
    try {
      return await run(servers[tried]);
    } catch (error) {
      const fault = faultOf(error);
      const mayBeMissing = fault === 'api_missing' || fault === 'not_json' || fault === 'unexpected_shape';
      if (setting !== 'auto' || !mayBeMissing) throw error;
      const other = tried === 'v1' ? 'v2' : 'v1';
      if (!(await isServed(servers[other], options).catch(() => false))) throw error;
      setVersion(other);
      return run(servers[other]);
    }
  }

  return {
    search: (request, options) =>
      call(async (server) => (await searchInLabel(server, request, options)).answer, options),
    suggest: (request, options) =>
      call(async (server) => {
        const { suggest, suggestKey } = server.dialect;
        const params = suggestParameters(request, server.dialect);
        const suggestions = readSuggestions(
          await getList(server, suggest, suggestKey, params, options),
          server.dialect,
        );
        return suggestions.filter(({ labels }) => labels.length === 0 || labels.includes(request.label));
      }, options),
    popularWords: (request, options) =>
      call(async (server) => {
        const { popularWords, popularKey } = server.dialect;
        const list = await getList(server, popularWords, popularKey, popularWordsParameters(request), options);
        const words = strings(list);
        if (words.length === 0) await ruleOutOutage(server, popularWords, options);
        return words;
      }, options),
    labels: (options) =>
      call(async (server) => {
        const { labels, labelsKey } = server.dialect;
        return readLabels(await getList(server, labels, labelsKey, new URLSearchParams(), options));
      }, options),
    health: (options) => call((server) => askHealth(server, options), options),
    async document(docId, label, options) {
      const document = await call((server) => findDocument(server, docId, label, options), options);
      lookedUp.add(document);
      return document;
    },
    async cachedPage(document, options) {
      assertLookedUp(document);
      return readCachedPage(client, version, document, options);
    },
    async original(document, options) {
      assertLookedUp(document);
      return readOriginal(client, document, options);
    },
    async detect() {
      const candidates: FessApiVersion[] = setting === 'auto' ? ['v1', 'v2'] : [setting];
      for (const candidate of candidates) {
        if (!(await isServed(servers[candidate], {}))) continue;
        setVersion(candidate);
        return candidate;
      }
      return undefined;
    },
    close: () => client.close(),
  };
}

/** Returns true if the server has this API version. Queries its health, which needs no permission. */
async function isServed({ client, dialect }: FessServer, options: FessCallOptions): Promise<boolean> {
  const response = await client.get(dialect.health, new URLSearchParams(), options);
  const body = parseBoundedJson(response.body.toString('utf8'));
  return isObject(body) && dialect.recognizes(body);
}

/** Requests a list. v1 omits the list if it is empty. */
async function getList(
  server: FessServer,
  endpoint: string,
  key: string,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<unknown[]> {
  const { body, httpStatus } = await askFess(server, endpoint, params, options);
  const list = body[key] ?? (typeof body['record_count'] === 'number' ? [] : undefined);
  if (!Array.isArray(list)) throw fessError('unexpected_shape', { endpoint, httpStatus });
  return list;
}

function readSuggestions(list: readonly unknown[], dialect: FessDialect): FessSuggestion[] {
  return list.flatMap((item) => {
    const text = isObject(item) ? item['text'] : undefined;
    if (!isObject(item) || typeof text !== 'string') return [];
    return [{ text, labels: strings(item[dialect.suggestLabelsKey]) }];
  });
}

function readLabels(list: readonly unknown[]): FessLabel[] {
  return list.flatMap((item) => {
    if (!isObject(item) || typeof item['value'] !== 'string') return [];
    return [{ label: typeof item['label'] === 'string' ? item['label'] : item['value'], value: item['value'] }];
  });
}

/** Reads the crawled HTML, without Fess's banner. Null if it is missing or forbidden. */
async function readCachedPage(
  client: FessClient,
  version: FessApiVersion,
  { docId }: FessDocument,
  options?: FessContentOptions,
): Promise<string | null> {
  const page = version === 'v1' ? await readCacheV1(client, docId, options) : await readCacheV2(client, docId, options);
  const html = page === null ? '' : withoutBanner(page);
  return html === '' ? null : html;
}

/** Reads the original. Fess redirects to the URL of a web document, and sends the bytes of a file. Otherwise returns null. */
async function readOriginal(
  client: FessClient,
  { docId, queryId, requestedTime, url }: FessDocument,
  options?: FessContentOptions,
): Promise<FessOriginal | null> {
  const params = new URLSearchParams({ docId, queryId, rt: String(requestedTime) });
  const response = await client.get('/go/', params, options);
  if (isRedirect(response.status)) {
    return response.location === url ? { kind: 'address', url } : null;
  }
  if (response.status === 404) return null;
  if (response.status !== 200) throw statusError(response);
  return { kind: 'bytes', bytes: response.body, contentType: response.contentType };
}

async function readCacheV1(client: FessClient, docId: string, options?: FessContentOptions): Promise<string | null> {
  const response = await client.get('/cache/', new URLSearchParams({ docId }), options);
  // Fess also answers unknown and forbidden ids with a redirect.
  if (isRedirect(response.status) || response.status === 404) return null;
  if (response.status !== 200) throw statusError(response);
  return response.body.toString('utf8');
}

async function readCacheV2(client: FessClient, docId: string, options?: FessContentOptions): Promise<string | null> {
  const endpoint = `/api/v2/cache/${docId}`;
  const response = await client.get(endpoint, new URLSearchParams(), options);
  if (response.status === 404) return null;
  const { response: envelope } = jsonObject(response);
  if (isObject(envelope) && typeof envelope['content'] === 'string') return envelope['content'];
  throw fessError('unexpected_shape', { endpoint, httpStatus: response.status });
}

/** Removes Fess's banner: a head with a base URL, and two nested boxes. The page follows their second closing tag. */
function withoutBanner(page: string): string {
  const banner = /^\s*<!DOCTYPE html>\s*<meta[^>]*>\s*<base[^>]*>\s*<div[^>]*>\s*<div[^>]*>[\s\S]*?<\/div>\s*<\/div>/i;
  return page.replace(banner, '').trim();
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
