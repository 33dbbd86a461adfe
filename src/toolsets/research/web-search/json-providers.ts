import { isObject } from '../../../base/json.ts';
import type { Secret } from '../../../base/secret.ts';
import { askProvider, objectsIn, type ProviderRequest, parseJsonAnswer, providerUrl } from './ask-provider.ts';
import { cleanResults, type RawResult, type TextForm } from './result-text.ts';
import { ProviderFailure, type SearchProvider } from './search-provider.ts';

export interface JsonProviderConfig {
  address: string;
  apiKey?: Secret;
  userAgent: string;
  timeoutMs: number;
}

/** A provider's request, and how to read its answer. */
interface JsonApi {
  readonly form: TextForm;
  requestOf(
    address: string,
    search: { readonly query: string; readonly limit: number },
    key: string,
  ): Pick<ProviderRequest, 'url' | 'method' | 'body'> & { headers?: Record<string, string> };
  /** Throws if the answer has no list of results, because such an answer must not count as "nothing found". */
  resultsOf(answer: Record<string, unknown>): RawResult[];
}

const bytesMax = 2 * 1024 * 1024;

export function createJsonProvider(name: keyof typeof apis, config: JsonProviderConfig): SearchProvider {
  const { form, requestOf, resultsOf } = apis[name];
  const { address, apiKey, userAgent, timeoutMs } = config;
  return {
    name,
    async search({ query, limit, signal }) {
      const { headers, ...request } = requestOf(address, { query, limit }, apiKey?.reveal() ?? '');
      const answer = await askProvider({
        ...request,
        headers: { 'user-agent': userAgent, accept: 'application/json', ...headers },
        timeoutMs,
        bytesMax,
        signal,
      });
      return cleanResults(resultsOf(parseJsonAnswer(answer)), form, limit);
    },
  };
}

/** SearXNG. The address may end with `/search`, and the instance must have JSON output enabled. */
const searxng: JsonApi = {
  form: 'html',
  requestOf(address, { query }) {
    const url = new URL(address);
    if (!url.pathname.endsWith('/search')) url.pathname = `${url.pathname.replace(/\/$/, '')}/search`;
    url.searchParams.set('q', query);
    url.searchParams.set('format', 'json');
    return { url };
  },
  resultsOf({ results, unresponsive_engines: unresponsive }) {
    if (!Array.isArray(results)) throw new ProviderFailure('failed', 'an answer without results');
    // The instance's engines were blocked or timed out, so it can't know whether there are results.
    if (results.length === 0 && Array.isArray(unresponsive) && unresponsive.length > 0) {
      throw new ProviderFailure('blocked', 'none of its engines answered');
    }
    return objectsIn(results).map(({ title, url, content }) => ({ title, url, snippet: content }));
  },
};

const brave: JsonApi = {
  form: 'html',
  requestOf(address, { query, limit }, key) {
    const url = providerUrl(address, '/res/v1/web/search');
    url.searchParams.set('q', query);
    url.searchParams.set('count', String(limit));
    return { url, headers: { 'x-subscription-token': key } };
  },
  resultsOf({ web, type }) {
    // Brave omits `web` if nothing was found; an answer of another type is a failure.
    if (web === undefined && type === 'search') return [];
    if (!isObject(web)) throw new ProviderFailure('failed', 'an answer without web results');
    return objectsIn(web['results']).map(({ title, url, description }) => ({ title, url, snippet: description }));
  },
};

/** Google's results through serper.dev. */
const serper: JsonApi = {
  form: 'plain',
  requestOf: (address, { query, limit }, key) => ({
    url: providerUrl(address, '/search'),
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ q: query, num: limit }),
  }),
  resultsOf({ organic, searchParameters }) {
    // Every valid answer has `searchParameters`. If nothing was found, `organic` may be missing.
    if (!Array.isArray(organic) && searchParameters === undefined) {
      throw new ProviderFailure('failed', 'an answer without organic results');
    }
    return objectsIn(organic).map(({ title, link, snippet }) => ({ title, url: link, snippet }));
  },
};

const apis = { searxng, brave, serper };
