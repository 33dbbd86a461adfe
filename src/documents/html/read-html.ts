import type { ExtractMode, PageExtent, Reading } from '../document.ts';
import { collectBlocks } from './blocks.ts';
import { dropMarked, findMainContent } from './main-content.ts';
import { buildPage, type Page, type PageElement } from './page-tree.ts';
import { printMarkdown } from './print-markdown.ts';
import { printText } from './print-text.ts';
import { titleOf } from './title.ts';

interface HtmlOptions {
  mode: ExtractMode;
  url?: string | undefined;
  charsMax: number;
  /** Default: `content`. `all` is for a fragment that is known to be content, such as a feed's summary. */
  extent?: PageExtent;
}

/** A page as text or Markdown. */
export function readHtml(html: string, options: HtmlOptions): Reading {
  const page = buildPage(html);
  // Taken first: the heading may be outside what is kept.
  const title = titleOf(page);
  const root = rootOf(page, options.extent ?? 'content');
  const blocks = collectBlocks(root, baseOf(page.facts.baseHref, options.url), options.charsMax + 1);
  const { metas, language } = page.facts;
  return {
    title,
    text: options.mode === 'markdown' ? printMarkdown(blocks) : printText(blocks),
    language: language ?? metas.get('og:locale')?.replace('_', '-') ?? null,
    byline: metas.get('author') ?? metas.get('article:author') ?? metas.get('dc.creator') ?? null,
    published: metas.get('article:published_time') ?? metas.get('datepublished') ?? metas.get('date') ?? null,
  };
}

function rootOf(page: Page, extent: PageExtent): PageElement {
  if (extent === 'content') return findMainContent(page);
  if (extent === 'page') dropMarked(page);
  return page.body;
}

/** `base href` may itself be relative to the page's address. */
function baseOf(baseHref: string | null, url: string | undefined): string | null {
  if (baseHref && URL.canParse(baseHref, url)) return new URL(baseHref, url).href;
  return url && URL.canParse(url) ? url : null;
}
