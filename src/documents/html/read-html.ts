import { oneLine } from '../../base/text.ts';
import type { ExtractMode, PageExtent, Reading } from '../document.ts';
import { collectBlocks } from './blocks.ts';
import { dropMarked, findMainContent } from './main-content.ts';
import { buildPage, type Page, type PageElement } from './page-tree.ts';
import { printMarkdown } from './print-markdown.ts';
import { printText } from './print-text.ts';
import { textOf } from './text-of.ts';

interface HtmlOptions {
  mode: ExtractMode;
  url?: string | undefined;
  charsMax: number;
  /** Default: `content`. `all` is for a fragment known to be content, such as a feed's summary. */
  extent?: PageExtent;
}

/** Reads a page as text or Markdown. */
export function readHtml(html: string, options: HtmlOptions): Reading {
  const page = buildPage(html);
  // Read before the content is chosen, because the heading may be outside it.
  const title = titleOf(page);
  const root = chooseRoot(page, options.extent ?? 'content');
  const blocks = collectBlocks(root, baseOf(page.metadata.baseHref, options.url), options.charsMax + 1);
  const { metas, language } = page.metadata;
  return {
    title,
    text: options.mode === 'markdown' ? printMarkdown(blocks) : printText(blocks),
    language: language ?? metas.get('og:locale')?.replace('_', '-') ?? null,
    byline: metas.get('author') ?? metas.get('article:author') ?? metas.get('dc.creator') ?? null,
    published: metas.get('article:published_time') ?? metas.get('datepublished') ?? metas.get('date') ?? null,
  };
}

function chooseRoot(page: Page, extent: PageExtent): PageElement {
  if (extent === 'content') return findMainContent(page);
  if (extent === 'page') dropMarked(page);
  return page.body;
}

/** Returns the URL that links are relative to. `base href` may itself be relative to the page's URL. */
function baseOf(baseHref: string | null, url: string | undefined): string | null {
  if (baseHref && URL.canParse(baseHref, url)) return new URL(baseHref, url).href;
  return url && URL.canParse(url) ? url : null;
}

const separator = /\s+[|\-–—·•»:]\s+|:\s+|\s*[｜│]\s*|_/g;

/** Returns the page's title. Removes the site's name if the headline or metadata show which part that is. */
export function titleOf(page: Page): string | null {
  const { metas } = page.metadata;
  const heading = page.elements.find((element) => element.tag === 'h1');
  const headline = heading ? textOf(heading, 300) : '';
  const title = clean(page.metadata.title);
  const socialTitle = clean(metas.get('og:title')) || clean(metas.get('twitter:title'));
  const site = clean(metas.get('og:site_name')) || clean(metas.get('application-name'));
  const best = socialTitle && socialTitle !== site ? socialTitle : title;
  if (!best) return headline || null;
  return withoutSite(best, headline, site);
}

/** Returns the shortest run of the title's parts that contains the headline, else the title without the site's name. */
function withoutSite(title: string, headline: string, site: string): string {
  const separators = [...title.matchAll(separator)].slice(0, 8);
  const starts = [0, ...separators.map((match) => match.index + match[0].length)];
  const ends = [...separators.map((match) => match.index), title.length];
  const parts = starts.flatMap((start) => ends.filter((end) => end > start).map((end) => title.slice(start, end)));
  const candidates = parts.filter((part) => headline.length > 3 && normalize(part).includes(normalize(headline)));
  const shortest = candidates.sort((left, right) => left.length - right.length)[0];
  if (shortest) return shortest;
  const last = starts.at(-1) ?? 0;
  const isSite = site !== '' && last > 0 && normalize(title.slice(last)) === normalize(site);
  return isSite ? title.slice(0, ends.at(-2)) : title;
}

function normalize(text: string): string {
  return text.toLowerCase().replace(/\s+/g, '');
}

function clean(text: string | null | undefined): string {
  return oneLine((text ?? '').slice(0, 1000));
}
