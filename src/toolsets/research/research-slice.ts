import { version } from '../../base/package-info.ts';
import {
  choice,
  defineSlice,
  headerText,
  httpUrl,
  integer,
  type SliceValues,
  secret,
  toggle,
} from '../../config/field.ts';
import { fetchFields } from '../../web/fetch-fields.ts';
import { providerNames } from './web-search/search-provider.ts';

/** Settings of the research toolset. Most variables and defaults come from its specification. */
export const researchSlice = defineSlice('research', 'Web research and notes', {
  searchProvider: choice(providerNames, {
    default: 'duckduckgo',
    env: ['SEARCH_PROVIDER'],
    description: 'The search provider to try first. searxng requires a URL, brave and serper a key.',
  }),
  searchFallback: toggle({
    default: true,
    env: ['SEARCH_FALLBACK'],
    description: 'Whether to try the other configured providers if the first fails or blocks the request.',
  }),
  serperApiKey: secret({ env: ['SERPER_API_KEY'], description: 'The API key for serper.dev.' }),
  braveApiKey: secret({ env: ['BRAVE_API_KEY'], description: 'The API key for Brave Search.' }),
  searxngUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['SEARXNG_URL'],
    description: 'The URL of a SearXNG instance with JSON output enabled.',
  }),
  duckduckgoUrl: httpUrl({
    default: 'https://html.duckduckgo.com/html/',
    env: ['DUCKDUCKGO_URL'],
    description:
      "The URL for DuckDuckGo searches. It must return DuckDuckGo's HTML results page, or JSON like its Instant Answer API.",
  }),
  serperUrl: httpUrl({
    default: 'https://google.serper.dev/search',
    env: ['SERPER_URL'],
    description: 'The URL for Serper searches.',
  }),
  braveUrl: httpUrl({
    default: 'https://api.search.brave.com/res/v1/web/search',
    env: ['BRAVE_URL'],
    description: 'The URL for Brave searches.',
  }),
  maxSearchResults: integer({
    default: 5,
    min: 1,
    max: 20,
    env: ['MAX_SEARCH_RESULTS'],
    description: 'Max results per web search, even if a call requests more.',
  }),
  searchTimeoutMs: integer({
    default: 10_000,
    min: 100,
    max: 120_000,
    env: ['SEARCH_TIMEOUT_MS'],
    description: 'Timeout per search provider, in milliseconds.',
  }),
  maxPageSize: integer({
    default: 50_000,
    min: 100,
    max: 1_000_000,
    env: ['MAX_PAGE_SIZE'],
    description: 'Max characters of a page per answer. Calls with `start` return the rest.',
  }),
  fetchTimeoutMs: fetchFields.fetchTimeoutMs,
  fetchBytesMax: fetchFields.fetchBytesMax,
  userAgent: headerText({
    default: `Carrel/${version}`,
    env: ['USER_AGENT'],
    description: 'The User-Agent sent to sites and search providers.',
  }),
  fetchAllowPrivate: fetchFields.fetchAllowPrivate,
  rateLimitSearch: integer({
    default: 10,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_SEARCH'],
    description: 'Max web searches per client per minute.',
  }),
  rateLimitFetch: integer({
    default: 30,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_FETCH'],
    description: 'Max fetched pages per client per minute.',
  }),
  rateLimitNotes: integer({
    default: 50,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_NOTES'],
    description: 'Max calls of the note tools per client per minute.',
  }),
});

export type ResearchConfig = SliceValues<typeof researchSlice>;
