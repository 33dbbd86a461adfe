import { CarrelError } from '../../../base/errors.ts';
import type { Secret } from '../../../base/secret.ts';
import { createBrave } from './brave.ts';
import { createDuckDuckGo } from './duckduckgo.ts';
import type { ProviderName, SearchProvider } from './search-provider.ts';
import { createSearxng } from './searxng.ts';
import { createSerper } from './serper.ts';

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

/** Every provider that can be asked: the operator's own and those with a key before the one that needs neither. */
export function createProviders(config: ProvidersConfig): SearchProvider[] {
  const { searxngUrl, braveApiKey, serperApiKey, userAgent, searchTimeoutMs: timeoutMs } = config;
  const providers: SearchProvider[] = [];
  if (searxngUrl !== undefined) providers.push(createSearxng({ address: searxngUrl, userAgent, timeoutMs }));
  if (braveApiKey !== undefined) {
    providers.push(createBrave({ address: config.braveUrl, apiKey: braveApiKey, userAgent, timeoutMs }));
  }
  if (serperApiKey !== undefined) {
    providers.push(createSerper({ address: config.serperUrl, apiKey: serperApiKey, userAgent, timeoutMs }));
  }
  providers.push(createDuckDuckGo({ address: config.duckduckgoUrl, userAgent, timeoutMs }));
  checkChosen(config.searchProvider, providers);
  return providers;
}

const needs: Partial<Record<ProviderName, string>> = {
  serper: 'SERPER_API_KEY',
  brave: 'BRAVE_API_KEY',
  searxng: 'SEARXNG_URL',
};

function checkChosen(chosen: ProviderName, providers: readonly SearchProvider[]): void {
  if (providers.some(({ name }) => name === chosen)) return;
  throw new CarrelError(
    'invalid_config',
    `SEARCH_PROVIDER is ${chosen}, which needs ${needs[chosen]}. Set it, or choose SEARCH_PROVIDER=duckduckgo, which needs nothing.`,
  );
}
