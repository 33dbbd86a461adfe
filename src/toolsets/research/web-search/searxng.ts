import { askProvider, objectsIn, parseJsonAnswer } from './ask-provider.ts';
import { cleanResults } from './result-text.ts';
import { ProviderFailure, type SearchProvider } from './search-provider.ts';

export interface SearxngConfig {
  /** The instance's URL, with or without `/search`. It must allow the JSON format. */
  address: string;
  userAgent: string;
  timeoutMs: number;
}

const bytesMax = 2 * 1024 * 1024;

export function createSearxng({ address, userAgent, timeoutMs }: SearxngConfig): SearchProvider {
  return {
    name: 'searxng',
    async search({ query, limit, signal }) {
      const url = new URL(address);
      if (!url.pathname.endsWith('/search')) url.pathname = `${url.pathname.replace(/\/$/, '')}/search`;
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const headers = { 'user-agent': userAgent, accept: 'application/json' };
      const answer = parseJsonAnswer(await askProvider({ url, headers, timeoutMs, bytesMax, signal }));
      const { results, unresponsive_engines: silent } = answer;
      if (!Array.isArray(results)) throw new ProviderFailure('failed', 'an answer without results');
      // The instance's engines were blocked or timed out, so it can't know whether there are results.
      if (results.length === 0 && Array.isArray(silent) && silent.length > 0) {
        throw new ProviderFailure('blocked', 'none of its engines answered');
      }
      const raw = objectsIn(results).map(({ title, url: link, content }) => ({ title, url: link, snippet: content }));
      return cleanResults(raw, 'html', limit);
    },
  };
}
