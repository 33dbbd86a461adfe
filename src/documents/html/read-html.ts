import type { ExtractMode, Reading } from '../document.ts';
import { collectBlocks } from './blocks.ts';
import { findMainContent } from './main-content.ts';
import { buildPage } from './page-tree.ts';
import { printMarkdown } from './print-markdown.ts';
import { printText } from './print-text.ts';
import { titleOf } from './title.ts';

interface HtmlOptions {
  mode: ExtractMode;
  url?: string | undefined;
  charsMax: number;
  /** Take all of it: a fragment of which we know that it is content, such as a feed's summary. */
  whole?: boolean;
}

/** A page's content as text or Markdown, without what stands around it. */
export function readHtml(html: string, options: HtmlOptions): Reading {
  const page = buildPage(html);
  // Taken first: the heading may be outside of what is kept.
  const title = titleOf(page);
  const root = options.whole ? page.body : findMainContent(page);
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

/** `base href` may itself be relative to the page's address. */
function baseOf(baseHref: string | null, url: string | undefined): string | null {
  if (baseHref && URL.canParse(baseHref, url)) return new URL(baseHref, url).href;
  return url && URL.canParse(url) ? url : null;
}
