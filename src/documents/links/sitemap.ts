import type { ListedPage } from '../document.ts';
import { readXml } from '../xml/xml.ts';

/** Reads the pages of a sitemap, or the sitemaps of a sitemap index (sitemaps.org). Both are empty for other XML. */
export function sitemapEntries(xml: string, entriesMax: number): { pages: ListedPage[]; sitemaps: string[] } {
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
