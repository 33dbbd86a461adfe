import type { Secret } from '../../../base/secret.ts';
import { askProvider, objectsIn, parseJsonAnswer, providerUrl } from './ask-provider.ts';
import { cleanResults } from './result-text.ts';
import { ProviderFailure, type SearchProvider } from './search-provider.ts';

export interface SerperConfig {
  address: string;
  apiKey: Secret;
  userAgent: string;
  timeoutMs: number;
}

const bytesMax = 2 * 1024 * 1024;

/** Google's results through serper.dev. */
export function createSerper({ address, apiKey, userAgent, timeoutMs }: SerperConfig): SearchProvider {
  return {
    name: 'serper',
    async search({ query, limit, signal }) {
      const answer = parseJsonAnswer(
        await askProvider({
          url: providerUrl(address, '/search'),
          method: 'POST',
          headers: {
            'user-agent': userAgent,
            'content-type': 'application/json',
            accept: 'application/json',
            'x-api-key': apiKey.reveal(),
          },
          body: JSON.stringify({ q: query, num: limit }),
          timeoutMs,
          bytesMax,
          signal,
        }),
      );
      const { organic, searchParameters } = answer;
      // An answer always repeats the search; without results it may lack the list.
      if (!Array.isArray(organic) && searchParameters === undefined) {
        throw new ProviderFailure('failed', 'an answer without organic results');
      }
      const raw = objectsIn(organic).map(({ title, link, snippet }) => ({ title, url: link, snippet }));
      return cleanResults(raw, 'plain', limit);
    },
  };
}
