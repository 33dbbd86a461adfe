import type { Page } from './page-tree.ts';
import { textOf } from './text-of.ts';

const separator = /\s+[|\-–—·•»:]\s+|:\s+/g;

/** The page's own name: its title without the site's, where something on the page confirms what is the site's. */
export function titleOf(page: Page): string | null {
  const { metas } = page.facts;
  const heading = page.elements.find((element) => element.tag === 'h1');
  const headline = heading ? textOf(heading, 300) : '';
  const title = clean(page.facts.title);
  const shared = clean(metas.get('og:title')) || clean(metas.get('twitter:title'));
  const site = clean(metas.get('og:site_name')) || clean(metas.get('application-name'));
  const best = shared && shared !== site ? shared : title;
  if (!best) return headline || null;
  return withoutSite(best, headline, site);
}

function withoutSite(title: string, headline: string, site: string): string {
  for (const match of title.matchAll(separator)) {
    const before = title.slice(0, match.index);
    const after = title.slice(match.index + match[0].length);
    if (before === '' || after === '') continue;
    if (same(before, headline) || (site !== '' && same(after, site))) return before;
    if (same(after, headline) || (site !== '' && same(before, site))) return after;
  }
  return title;
}

function same(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function clean(text: string | null | undefined): string {
  return (text ?? '').slice(0, 1000).replace(/\s+/g, ' ').trim();
}
