import type { DocumentKind, DocumentLinks, ListedPage } from '../document.ts';
import { feedEntries } from '../xml/feed.ts';
import { readXml } from '../xml/xml.ts';
import { htmlLinks } from './html-links.ts';

/** Max links per page and entries per sitemap. The sitemap protocol allows 50,000. */
const linksMax = 50_000;

export function findLinks(kind: DocumentKind, text: string, url: string | undefined): DocumentLinks | undefined {
  switch (kind) {
    case 'html': {
      const { hrefs, canonical, base, ...robots } = htmlLinks(text);
      const baseUrl = resolveUrl(base ?? '', url) ?? url;
      const urls = distinct(hrefs.map((href) => resolveUrl(href, baseUrl)));
      return {
        ...noLinks,
        ...robots,
        urls: urls.slice(0, linksMax),
        hasMore: urls.length > linksMax,
        canonical: (canonical === null ? undefined : resolveUrl(canonical, baseUrl)) ?? null,
      };
    }
    case 'feed':
      return { ...noLinks, entries: resolveEntries(feedEntries(text), url) };
    case 'xml': {
      const { pages, sitemaps } = sitemapEntries(text, linksMax);
      return {
        ...noLinks,
        entries: resolveEntries(pages, url),
        sitemaps: distinct(sitemaps.map((each) => resolveUrl(each, url))),
      };
    }
    case 'json':
      return { ...noLinks, entries: resolveEntries(jsonFeedEntries(text), url) };
    default:
      return undefined;
  }
}

const noLinks: DocumentLinks = {
  urls: [],
  hasMore: false,
  canonical: null,
  noindex: false,
  nofollow: false,
  entries: [],
  sitemaps: [],
};

function resolveEntries(entries: readonly ListedPage[], base: string | undefined): ListedPage[] {
  const pages = new Map<string, ListedPage>();
  for (const entry of entries) {
    const url = resolveUrl(entry.url, base);
    if (url !== undefined && !pages.has(url)) pages.set(url, { ...entry, url });
  }
  return [...pages.values()];
}

/** Reads the entries of a JSON Feed, version 1 or 1.1. */
function jsonFeedEntries(text: string): ListedPage[] {
  if (!text.includes('https://jsonfeed.org/version/')) return [];
  try {
    const { items } = JSON.parse(text) as { items?: unknown };
    if (!Array.isArray(items)) return [];
    return items.flatMap((item) => {
      const { url, external_url, date_modified, date_published } = Object(item);
      const link = url ?? external_url;
      const changed = date_modified ?? date_published;
      return typeof link === 'string' ? [{ url: link, ...(typeof changed === 'string' ? { changed } : {}) }] : [];
    });
  } catch {
    return [];
  }
}

/** Reads the pages of a sitemap, or the sitemaps of a sitemap index (sitemaps.org). Both are empty for other XML. */
function sitemapEntries(xml: string, entriesMax: number): { pages: ListedPage[]; sitemaps: string[] } {
  const pages: ListedPage[] = [];
  const sitemaps: string[] = [];
  let path: string[] = [];
  let entry = { loc: '', lastmod: '' };
  for (const event of readXml(xml)) {
    if (event.type === 'open') {
      if (path.length === 0 && !/(?:^|:)(?:urlset|sitemapindex)$/.test(event.name)) break;
      if (path.length === 1) entry = { loc: '', lastmod: '' };
      if (!event.empty && path.length < 16) path.push(event.name);
    } else if (event.type === 'text') {
      const name = path.length === 3 ? path[2] : undefined;
      if (name === 'loc' || name === 'lastmod') entry[name] += event.text.trim();
    } else {
      const depth = path.lastIndexOf(event.name);
      if (depth === 1 && entry.loc !== '') {
        if (event.name === 'sitemap') sitemaps.push(entry.loc);
        else pages.push({ url: entry.loc, ...(entry.lastmod === '' ? {} : { changed: entry.lastmod }) });
      }
      if (depth !== -1) path = path.slice(0, depth);
      if (pages.length + sitemaps.length >= entriesMax) break;
    }
  }
  return { pages, sitemaps };
}

function resolveUrl(href: string, base: string | undefined): string | undefined {
  const url = URL.parse(href.trim(), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  url.hash = '';
  return url.href;
}

function distinct(urls: readonly (string | undefined)[]): string[] {
  return [...new Set(urls.filter((url) => url !== undefined))];
}
