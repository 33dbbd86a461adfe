import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { ListedPage } from '../documents/document.ts';
import type { Extractor } from '../documents/extractor.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import { normalise } from './address.ts';
import type { Host } from './hosts.ts';

export interface ListingDeps {
  readonly fetch: SafeFetch;
  readonly extractor: Extractor;
  hostOf(url: string): Promise<Host>;
}

/** Max sitemaps read per run. */
const sitemapsMax = 100;

/** Reads the pages that a feed lists, by URL. */
export async function readFeedPages(
  url: string,
  deps: ListingDeps,
  signal: AbortSignal,
): Promise<Map<string, ListedPage>> {
  const { entries } = await readOne(url, deps, signal);
  if (entries.length === 0) {
    throw new CarrelError(
      'fetch_failed',
      `${url} is not a feed, or lists nothing. Supported: RSS, Atom and JSON Feed.`,
    );
  }
  return byAddress(entries);
}

/** Reads the pages that a site's sitemaps list: `url` if it is a sitemap, else those in robots.txt, else /sitemap.xml. */
export async function readSitemapPages(
  url: string,
  pagesMax: number,
  deps: ListingDeps,
  signal: AbortSignal,
): Promise<Map<string, ListedPage>> {
  const { origin } = new URL(url);
  const named = isSitemap(url) ? [] : (await (await deps.hostOf(url)).robots(signal)).sitemaps;
  const waiting = isSitemap(url) ? [url] : named.length > 0 ? [...named] : [`${origin}/sitemap.xml`];
  const seen = new Set<string>();
  const pages = new Map<string, ListedPage>();
  let failure: unknown;
  for (let next = waiting.shift(); next !== undefined && seen.size < sitemapsMax; next = waiting.shift()) {
    // Skips sitemaps of other sites.
    if (seen.has(next) || URL.parse(next)?.origin !== origin) continue;
    seen.add(next);
    try {
      const { entries, sitemaps } = await readOne(next, deps, signal);
      waiting.push(...sitemaps);
      for (const [address, entry] of byAddress(entries)) if (pages.size < pagesMax) pages.set(address, entry);
    } catch (error) {
      signal.throwIfAborted();
      if (!isCarrelError(error)) throw error;
      failure ??= error;
    }
  }
  if (pages.size > 0) return pages;
  throw failure ?? new CarrelError('fetch_failed', `${origin} has no sitemap with pages. Use --site to follow links.`);
}

/** True if the URL is that of a sitemap, not of a page. */
export function isSitemap(url: string): boolean {
  return /\.xml(?:\.gz)?$/i.test(new URL(url).pathname);
}

async function readOne(url: string, { fetch, extractor, hostOf }: ListingDeps, signal: AbortSignal) {
  const host = await hostOf(url);
  const rules = await host.robots(signal);
  if (!rules.allows(url)) throw new CarrelError('fetch_failed', `robots.txt of ${new URL(url).host} forbids ${url}.`);
  const { body: bytes, contentType, status, url: from } = await host.request(signal, () => fetch(url, { signal }));
  if (status !== 200) throw new CarrelError('fetch_failed', `${url} answered with status ${status}.`);
  const source = {
    bytes,
    url: from,
    mode: 'text',
    links: true,
    ...(contentType === undefined ? {} : { contentType }),
  } as const;
  const { links } = await extractor.extract(source, { signal });
  return { entries: links?.entries ?? [], sitemaps: links?.sitemaps ?? [] };
}

function byAddress(entries: readonly ListedPage[]): Map<string, ListedPage> {
  return new Map(
    entries.flatMap((entry): [string, ListedPage][] => {
      const url = normalise(entry.url);
      return url === undefined ? [] : [[url, entry]];
    }),
  );
}
