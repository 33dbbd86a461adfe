import { isObject } from '../../../base/json.ts';
import type { Secret } from '../../../base/secret.ts';
import { askProvider, objectsIn, parseJsonAnswer, providerUrl } from './ask-provider.ts';
import { cleanResults } from './result-text.ts';
import { ProviderFailure, type SearchProvider } from './search-provider.ts';

export interface BraveConfig {
  address: string;
  apiKey: Secret;
  userAgent: string;
  timeoutMs: number;
}

const bytesMax = 2 * 1024 * 1024;

export function createBrave({ address, apiKey, userAgent, timeoutMs }: BraveConfig): SearchProvider {
  return {
    name: 'brave',
    async search({ query, limit, signal }) {
      const url = providerUrl(address, '/res/v1/web/search');
      url.searchParams.set('q', query);
      url.searchParams.set('count', String(limit));
      const headers = {
        'user-agent': userAgent,
        accept: 'application/json',
        'x-subscription-token': apiKey.reveal(),
      };
      const answer = parseJsonAnswer(await askProvider({ url, headers, timeoutMs, bytesMax, signal }));
      const { web } = answer;
      // Brave omits `web` if nothing was found; an answer of another type is a failure.
      if (web === undefined && answer['type'] === 'search') return [];
      if (!isObject(web)) throw new ProviderFailure('failed', 'an answer without web results');
      const raw = objectsIn(web['results']).map(({ title, url: link, description }) => ({
        title,
        url: link,
        snippet: description,
      }));
      return cleanResults(raw, 'html', limit);
    },
  };
}
