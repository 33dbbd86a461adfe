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

/** The variables and defaults of 004, and what contract §7 adds. */
export const researchSlice = defineSlice('research', 'Web research and notes', {
  searchProvider: choice(providerNames, {
    default: 'duckduckgo',
    env: ['SEARCH_PROVIDER'],
    description: 'The web search that is asked first. All but duckduckgo need a key or an address.',
  }),
  searchFallback: toggle({
    default: true,
    env: ['SEARCH_FALLBACK'],
    description: 'Whether to ask the other configured searches if the first one is blocked or broken.',
  }),
  serperApiKey: secret({ env: ['SERPER_API_KEY'], description: 'The key for serper.dev.' }),
  braveApiKey: secret({ env: ['BRAVE_API_KEY'], description: 'The key for the Brave Search API.' }),
  searxngUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['SEARXNG_URL'],
    description: 'The address of a SearXNG instance whose settings allow the JSON format.',
  }),
  duckduckgoUrl: httpUrl({
    default: 'https://html.duckduckgo.com/html/',
    env: ['DUCKDUCKGO_URL'],
    description:
      'Where DuckDuckGo is asked: an address that answers with its HTML results page, or with JSON like its Instant Answer API.',
  }),
  serperUrl: httpUrl({
    default: 'https://google.serper.dev/search',
    env: ['SERPER_URL'],
    description: 'Where Serper is asked.',
  }),
  braveUrl: httpUrl({
    default: 'https://api.search.brave.com/res/v1/web/search',
    env: ['BRAVE_URL'],
    description: 'Where Brave Search is asked.',
  }),
  maxSearchResults: integer({
    default: 5,
    min: 1,
    max: 20,
    env: ['MAX_SEARCH_RESULTS'],
    description: 'The most results of one web search, whatever limit a call asks for.',
  }),
  searchTimeoutMs: integer({
    default: 10_000,
    min: 100,
    max: 120_000,
    env: ['SEARCH_TIMEOUT_MS'],
    description: 'How long one search provider may take, in milliseconds.',
  }),
  maxPageSize: integer({
    default: 50_000,
    min: 100,
    max: 1_000_000,
    env: ['MAX_PAGE_SIZE'],
    description: 'The most characters of a page in one answer; the rest is fetched with `start`.',
  }),
  fetchTimeoutMs: fetchFields.fetchTimeoutMs,
  fetchBytesMax: fetchFields.fetchBytesMax,
  userAgent: headerText({
    default: `Carrel/${version}`,
    env: ['USER_AGENT'],
    description: 'How the server introduces itself to sites and search providers.',
  }),
  fetchAllowPrivate: fetchFields.fetchAllowPrivate,
  rateLimitSearch: integer({
    default: 10,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_SEARCH'],
    description: 'Web searches a minute for each client.',
  }),
  rateLimitFetch: integer({
    default: 30,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_FETCH'],
    description: 'Fetched pages a minute for each client.',
  }),
  rateLimitNotes: integer({
    default: 50,
    min: 1,
    max: 100_000,
    env: ['RATE_LIMIT_NOTES'],
    description: 'Calls of note tools a minute for each client.',
  }),
});

export type ResearchConfig = SliceValues<typeof researchSlice>;
