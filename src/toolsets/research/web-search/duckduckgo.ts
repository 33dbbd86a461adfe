import { isObject } from '../../../base/json.ts';
import { askProvider, objectsIn, type ProviderAnswer, parseJsonAnswer, providerUrl } from './ask-provider.ts';
import { readResultsPage } from './duckduckgo-page.ts';
import { cleanResults, type RawResult } from './result-text.ts';
import { ProviderFailure, type SearchProvider, type SearchResult } from './search-provider.ts';

export interface DuckDuckGoConfig {
  /** The URL of the results page without scripts, or of a substitute. */
  address: string;
  userAgent: string;
  timeoutMs: number;
}

/** Max bytes of an answer. Results pages have about 40 KB, and parsing much more would delay other calls. */
const bytesMax = 512 * 1024;

/**
 * Creates the provider for DuckDuckGo, which needs no key. It reads the HTML results page. A JSON answer is read as
 * one of the Instant Answer API (summary and related topics), which knows far fewer pages.
 */
export function createDuckDuckGo({ address, userAgent, timeoutMs }: DuckDuckGoConfig): SearchProvider {
  return {
    name: 'duckduckgo',
    async search({ query, limit, signal }) {
      const url = providerUrl(address, '/html/');
      url.searchParams.set('q', query);
      const headers = { 'user-agent': userAgent, accept: 'text/html', 'accept-language': 'en, *;q=0.5' };
      const answer = await askProvider({ url, headers, timeoutMs, bytesMax, signal });
      return isJson(answer) ? readInstantAnswer(answer, limit) : readPage(answer, url, limit);
    },
  };
}

/**
 * Detects JSON by content type or text. The real API labels its JSON as a script, and a substitute may use any type.
 */
function isJson({ contentType, text }: ProviderAnswer): boolean {
  return /json|javascript/.test(contentType) || text.trimStart().startsWith('{');
}

function readPage(answer: ProviderAnswer, url: URL, limit: number): SearchResult[] {
  const page = readResultsPage(answer.text, url);
  if (page.results.length > 0) return cleanResults(page.results, 'plain', limit);
  if (page.isChallenge) throw new ProviderFailure('blocked', 'a challenge page');
  // A page of any other kind must not count as "nothing found".
  if (!page.saysNothingFound) throw new ProviderFailure('failed', 'a page that is not a results page');
  return [];
}

function readInstantAnswer(answer: ProviderAnswer, limit: number): SearchResult[] {
  const { Heading, AbstractText, AbstractURL, Results, RelatedTopics } = parseJsonAnswer(answer);
  const topics = objectsIn(RelatedTopics).flatMap((topic) => [topic, ...objectsIn(topic['Topics'])]);
  const raw: RawResult[] = [
    { title: Heading, url: AbstractURL, snippet: AbstractText },
    ...[...objectsIn(Results), ...topics].filter(isObject).map(({ Text, FirstURL }) => ({
      title: typeof Text === 'string' ? Text.split(' - ', 1)[0] : undefined,
      url: FirstURL,
      snippet: Text,
    })),
  ];
  return cleanResults(raw, 'html', limit);
}
