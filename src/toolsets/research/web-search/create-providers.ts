import { CarrelError } from '../../../base/errors.ts';
import type { Secret } from '../../../base/secret.ts';
import type { ProviderName, SearchProvider } from './search-provider.ts';

export interface ProvidersConfig {
  searchProvider: ProviderName;
  duckduckgoUrl: string;
  searxngUrl: string | undefined;
  serperUrl: string;
  serperApiKey: Secret | undefined;
  braveUrl: string;
  braveApiKey: Secret | undefined;
  searchTimeoutMs: number;
  userAgent: string;
}

/** Creates all configured providers, in order of preference. DuckDuckGo, which needs no configuration, comes last. */
export function createProviders(config: ProvidersConfig): SearchProvider[] {
  const { searxngUrl, braveApiKey, serperApiKey, userAgent, searchTimeoutMs: timeoutMs } = config;
  const missing = missingSetting(config);
  if (missing !== undefined) {
    throw new CarrelError(
      'invalid_config',
      `SEARCH_PROVIDER=${config.searchProvider} requires ${missing}. Set it, or use SEARCH_PROVIDER=duckduckgo, which needs no key.`,
    );
  }
  const common = { userAgent, timeoutMs };
  const providers: SearchProvider[] = [];
  const add = (name: 'searxng' | 'brave' | 'serper', connection: { address: string; apiKey?: Secret }): void => {
    const load = async () =>
      (await import('./json-providers.ts')).createJsonProvider(name, { ...connection, ...common });
    providers.push(loadedOnUse(name, load));
  };
  if (searxngUrl !== undefined) add('searxng', { address: searxngUrl });
  if (braveApiKey !== undefined) add('brave', { address: config.braveUrl, apiKey: braveApiKey });
  if (serperApiKey !== undefined) add('serper', { address: config.serperUrl, apiKey: serperApiKey });
  const duckduckgo = { address: config.duckduckgoUrl, ...common };
  providers.push(loadedOnUse('duckduckgo', async () => (await import('./duckduckgo.ts')).createDuckDuckGo(duckduckgo)));
  return providers;
}

/** Creates a provider whose code, including any HTML parser, is loaded by the first search. */
function loadedOnUse(name: ProviderName, load: () => Promise<SearchProvider>): SearchProvider {
  let loading: Promise<SearchProvider> | undefined;
  return {
    name,
    async search(request) {
      loading ??= load();
      return (await loading).search(request);
    },
  };
}

/** Returns the name of the setting that the chosen provider lacks. */
export function missingSetting(config: ProvidersConfig): string | undefined {
  const { searchProvider, serperApiKey, braveApiKey, searxngUrl } = config;
  if (searchProvider === 'serper' && serperApiKey === undefined) return 'SERPER_API_KEY';
  if (searchProvider === 'brave' && braveApiKey === undefined) return 'BRAVE_API_KEY';
  return searchProvider === 'searxng' && searxngUrl === undefined ? 'SEARXNG_URL' : undefined;
}
