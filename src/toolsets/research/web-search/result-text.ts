import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { cleanText } from '../../../documents/text/clean-text.ts';
import type { SearchResult } from './search-provider.ts';

const titleCharsMax = 200;
const snippetCharsMax = 500;
const urlCharsMax = 2048;
/** Enough for any text within the limits above; more is not even parsed. */
const markupCharsMax = 4000;

/** What a provider said about one page, before it is cleaned. */
export interface RawResult {
  title: unknown;
  url: unknown;
  snippet: unknown;
}

/** `html`: the provider marks matches up and escapes the rest. `plain`: text in which `vector<int>` is text. */
export type TextForm = 'html' | 'plain';

/** Results that can be passed on: invalid and repeated URLs and results beyond the limit are left out. */
export function cleanResults(raw: readonly RawResult[], form: TextForm, limit: number): SearchResult[] {
  const results = new Map<string, SearchResult>();
  for (const { title, url, snippet } of raw) {
    if (results.size >= limit) break;
    const address = webAddress(url);
    if (address === undefined || results.has(address)) continue;
    results.set(address, {
      title: oneLine(title, form, titleCharsMax) || new URL(address).hostname,
      url: address,
      snippet: oneLine(snippet, form, snippetCharsMax),
    });
  }
  return [...results.values()];
}

/** The URL as the provider wrote it if that is harmless, or else normalised; undefined if it is not a web address. */
export function webAddress(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > urlCharsMax) return undefined;
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return /^[!-~]+$/.test(given) ? given : url.href;
}

export function oneLine(given: unknown, form: TextForm, charsMax: number): string {
  if (typeof given !== 'string') return '';
  const bounded = given.slice(0, markupCharsMax);
  const text = form === 'html' ? textOfMarkup(bounded) : bounded.replace(commonMarkup, ' ');
  return shorten(cleanText(text).replace(/\s+/g, ' ').trim().toWellFormed(), charsMax);
}

/** Tags that providers and pages put around text; others may be what a page about programming talks about. */
const commonMarkup =
  /<\/?(?:a|b|br|div|em|font|i|iframe|img|li|link|mark|meta|p|script|span|strong|style|svg|u|ul|wbr)(?:\s[^<>]*)?\/?>/gi;

function textOfMarkup(markup: string): string {
  const waiting: DefaultTreeAdapterTypes.Node[] = [parseFragment(markup)];
  let text = '';
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('value' in node) text += node.value;
    if (!('childNodes' in node) || ['script', 'style', 'template'].includes(node.nodeName)) continue;
    if (node.nodeName === 'br' || node.nodeName === 'p') text += ' ';
    waiting.push(...node.childNodes.toReversed());
  }
  return text;
}

function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = text.slice(0, charsMax - 1);
  const space = cut.lastIndexOf(' ');
  const end = space > charsMax / 2 ? space : cut.length - (/[\ud800-\udbff]$/.test(cut) ? 1 : 0);
  return `${cut.slice(0, end)}…`;
}
