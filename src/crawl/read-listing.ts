import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { ListedPage } from '../documents/document.ts';
import { normaliseUrl } from './address.ts';
import type { RunContext } from './run-context.ts';

/** Max sitemaps read per run. */
const sitemapsMax = 100;

/** Reads the pages that a feed lists, by URL. */
export async function readFeedPages(url: string, context: RunContext): Promise<Map<string, ListedPage>> {
  const { entries } = await readListing(url, context);
  if (entries.length > 0) return byUrl(entries);
  const message = `${url} is not a feed, or lists nothing. Supported: RSS, Atom and JSON Feed.`;
  throw new CarrelError('fetch_failed', message);
}

/** Reads the pages listed in `url` if it is a sitemap, else in the sitemaps that robots.txt names, else in /sitemap.xml. */
export async function readSitemapPages(url: string, context: RunContext): Promise<Map<string, ListedPage>> {
  const { signal, run } = context;
  const pagesMax = run.source.settings.pages;
  const { origin } = new URL(url);
  const pending = isSitemap(url) ? [url] : await sitemapsOf(origin, context);
  const seen = new Set<string>();
  const pages = new Map<string, ListedPage>();
  let failure: unknown;
  for (let next = pending.shift(); next !== undefined && seen.size < sitemapsMax; next = pending.shift()) {
    // Skips sitemaps of other sites.
    if (seen.has(next) || URL.parse(next)?.origin !== origin) continue;
    seen.add(next);
    try {
      const { entries, sitemaps } = await readListing(next, context);
      pending.push(...sitemaps);
      for (const [page, entry] of byUrl(entries)) if (pages.size < pagesMax) pages.set(page, entry);
    } catch (error) {
      signal.throwIfAborted();
      if (!isCarrelError(error)) throw error;
      failure ??= error;
    }
  }
  if (pages.size > 0) return pages;
  throw failure ?? new CarrelError('fetch_failed', `${origin} has no sitemap with pages. Use --site to follow links.`);
}

/** True if the URL looks like a sitemap, not like a page. */
export function isSitemap(url: string): boolean {
  return /\.xml(?:\.gz)?$/i.test(new URL(url).pathname);
}

async function sitemapsOf(origin: string, { hostOf, signal }: RunContext): Promise<string[]> {
  const host = await hostOf(origin);
  const { sitemaps } = await host.robots(signal);
  return sitemaps.length > 0 ? [...sitemaps] : [`${origin}/sitemap.xml`];
}

async function readListing(url: string, { fetch, extractor, hostOf, signal }: RunContext) {
  const host = await hostOf(url);
  const rules = await host.robots(signal);
  if (!rules.allows(url)) throw new CarrelError('fetch_failed', `robots.txt of ${new URL(url).host} forbids ${url}.`);
  const { body: bytes, contentType, status, url: from } = await host.request(signal, () => fetch(url, { signal }));
  if (status !== 200) throw new CarrelError('fetch_failed', `${url} answered with status ${status}.`);
  const type = contentType === undefined ? {} : { contentType };
  const source = { bytes, url: from, mode: 'text', links: true, ...type } as const;
  const { links } = await extractor.extract(source, { signal });
  return { entries: links?.entries ?? [], sitemaps: links?.sitemaps ?? [] };
}

function byUrl(entries: readonly ListedPage[]): Map<string, ListedPage> {
  return new Map(
    entries.flatMap((entry): [string, ListedPage][] => {
      const url = normaliseUrl(entry.url);
      return url === undefined ? [] : [[url, entry]];
    }),
  );
}
