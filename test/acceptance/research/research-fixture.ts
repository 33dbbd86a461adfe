import { after } from 'node:test';
import type { Owner } from '../../fakes/loopback-server.ts';
import { type PageSite, startPageSite } from '../../fakes/page-site.ts';
import { type SearchProviders, startSearchProviders } from '../../fakes/search-providers/start-search-providers.ts';
import { createBareRpc } from '../../support/bare-rpc.ts';
import { type Carrel, startCarrel } from '../../support/child-program.ts';

export interface Research {
  carrel: Carrel;
  rpc: ReturnType<typeof createBareRpc>;
  providers: SearchProviders;
  site: PageSite;
}

/** The built `carrel research`, with a search engine and a site on loopback. All end with the test file or the owner. */
export async function startResearch(
  env: Record<string, string> = {},
  owner: Owner = { after },
  flags: readonly string[] = [],
): Promise<Research> {
  const providers = await startSearchProviders(owner);
  const site = await startPageSite(owner);
  const carrel = await startCarrel(owner, ['research', ...flags], {
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
