import { oneLine } from '../../../base/text.ts';
import { markupText } from '../../../documents/html/markup-text.ts';
import { cleanText } from '../../../documents/text/clean-text.ts';
import type { SearchResult } from './search-provider.ts';

const titleCharsMax = 200;
const snippetCharsMax = 500;
const urlCharsMax = 2048;
/** Max characters of a plain text that are examined. */
const plainCharsMax = 4000;

/** A provider's raw result. */
export interface RawResult {
  title: unknown;
  url: unknown;
  snippet: unknown;
}

/**
 * `html`: matched words are in tags, and all other text is escaped. `plain`: nothing is escaped, so `vector<int>` is
 * literal.
 */
export type TextForm = 'html' | 'plain';

/** Cleans results, and drops those with invalid or duplicate URLs. Returns at most `limit`. */
export function cleanResults(raw: readonly RawResult[], form: TextForm, limit: number): SearchResult[] {
  const results = new Map<string, SearchResult>();
  for (const { title, url, snippet } of raw) {
    if (results.size >= limit) break;
    const address = webAddress(url);
    if (address === undefined || results.has(address)) continue;
    results.set(address, {
      title: resultText(title, form, titleCharsMax) || new URL(address).hostname,
      url: address,
      snippet: resultText(snippet, form, snippetCharsMax),
    });
  }
  return [...results.values()];
}

/**
 * Returns a web address as written if it is plain ASCII, else normalized. Returns undefined for anything else, and
 * for URLs with a login.
 */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > urlCharsMax) return undefined;
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return /^[!-~]+$/.test(value) ? value : url.href;
}

export function resultText(value: unknown, form: TextForm, charsMax: number): string {
  if (typeof value !== 'string') return '';
  const text = form === 'html' ? markupText(value) : value.slice(0, plainCharsMax).replace(commonMarkup, ' ');
  return shorten(oneLine(cleanText(text)).toWellFormed(), charsMax);
}

/** Tags that providers leave in plain text. Other tags stay, because a page may be about them. */
const commonMarkup =
  /<\/?(?:a|b|br|div|em|font|i|iframe|img|li|link|mark|meta|p|script|span|strong|style|svg|u|ul|wbr)(?:\s[^<>]*)?\/?>/gi;

function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = text.slice(0, charsMax - 1);
  const space = cut.lastIndexOf(' ');
  const end = space > charsMax / 2 ? space : cut.length - (/[\ud800-\udbff]$/.test(cut) ? 1 : 0);
  return `${cut.slice(0, end)}…`;
}
