import { after } from 'node:test';
import { type PageSite, startPageSite } from '../../fakes/page-site.ts';
import { type SearchProviders, startSearchProviders } from '../../fakes/search-providers/start-search-providers.ts';
import { createBareRpc } from '../../support/bare-rpc.ts';
import { type Carrel, startCarrel } from '../../support/start-carrel.ts';

export interface Research {
  carrel: Carrel;
  rpc: ReturnType<typeof createBareRpc>;
  providers: SearchProviders;
  site: PageSite;
}

/** `carrel research`, built, with a search engine and a site on loopback; it ends with the test file. */
export async function startResearch(env: Record<string, string> = {}): Promise<Research> {
  const providers = await startSearchProviders({ after });
  const site = await startPageSite({ after });
  const carrel = await startCarrel({ after }, ['research'], {
    env: {
      DUCKDUCKGO_URL: providers.addresses.duckduckgo,
      FETCH_ALLOW_PRIVATE: `127.0.0.1:${site.port}`,
      RATE_LIMIT_SEARCH: '100000',
      RATE_LIMIT_FETCH: '100000',
      RATE_LIMIT_NOTES: '100000',
      ...env,
    },
  });
  return { carrel, rpc: createBareRpc(carrel.url), providers, site };
}
