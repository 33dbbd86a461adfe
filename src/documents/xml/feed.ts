import { oneLine } from '../../base/text.ts';
import type { ExtractMode, Reading } from '../document.ts';
import { readHtml } from '../html/read-html.ts';
import { decodeEntities, readXml, type XmlEvent } from './xml.ts';

const entriesMax = 500;
const entrySummaryCharsMax = 4000;

interface FeedOptions {
  mode: ExtractMode;
  url: string | undefined;
  charsMax: number;
}

type Fields = Map<string, string>;

/** Reads RSS 0.9 to 2.0, RDF and Atom: title, link, date and summary of every entry, in feed order. */
export function readFeed(xml: string, options: FeedOptions): Reading {
  const { channel, entries, hasMore } = parseFeed(xml);
  const parts: string[] = [];
  const description = channel.get('description') ?? channel.get('subtitle');
  if (description) parts.push(toText(description, options));
  let length = 0;
  for (const entry of entries) {
    const part = entryText(entry, options);
    parts.push(part);
    length += part.length;
    if (length > options.charsMax) break;
  }
  return {
    title: channel.get('title') ?? null,
    text: parts.filter((part) => part !== '').join('\n\n'),
    language: channel.get('language') ?? null,
    published: channel.get('updated') ?? channel.get('lastBuildDate') ?? channel.get('pubDate') ?? null,
    truncated: hasMore || length > options.charsMax,
  };
}

export function feedEntries(xml: string): { url: string; changed?: string }[] {
  return parseFeed(xml).entries.flatMap((entry) => {
    const guid = entry.get('guid') ?? '';
    const url = entry.get('link') || (/^https?:/i.test(guid) ? guid : '');
    const changed = entry.get('updated') ?? entry.get('pubDate') ?? entry.get('published') ?? entry.get('dc:date');
    return url === '' ? [] : [{ url, ...(changed === undefined ? {} : { changed }) }];
  });
}

function entryText(entry: Fields, options: FeedOptions): string {
  const title = oneLine(entry.get('title') ?? '');
  const link = entry.get('link') ?? '';
  const date = entry.get('pubDate') ?? entry.get('published') ?? entry.get('updated') ?? entry.get('dc:date') ?? '';
  const body = entry.get('description') ?? entry.get('summary') ?? entry.get('content:encoded') ?? entry.get('content');
  const summary = toText((body ?? '').slice(0, entrySummaryCharsMax * 4), options).slice(0, entrySummaryCharsMax);
  const heading = options.mode === 'markdown' && title !== '' ? `## ${title}` : title;
  const lines = [heading, link, date].map((line) => line.trim()).filter((line) => line !== '');
  return summary === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${summary}`;
}

/** Converts a summary to text. It may be text or HTML, and the feed rarely says which. */
function toText(text: string, options: FeedOptions): string {
  if (!/<[a-z!/]|&[a-z#]/i.test(text)) return text.trim();
  return readHtml(text, { mode: options.mode, url: options.url, charsMax: options.charsMax, extent: 'all' }).text;
}

function parseFeed(xml: string): { channel: Fields; entries: Fields[]; hasMore: boolean } {
  const channel: Fields = new Map();
  const entries: Fields[] = [];
  let entry: Fields | null = null;
  let path: string[] = [];
  for (const event of readXml(xml)) {
    if (event.type === 'text') {
      const name = path.at(-1) ?? '';
      if (entry) append(entry, fieldOf(path), event.text);
      else if (path.length <= 3) append(channel, name, event.text);
    } else if (event.type === 'close') {
      const index = path.lastIndexOf(event.name);
      if (index !== -1) path = path.slice(0, index);
      if (isEntry(event.name)) entry = null;
    } else {
      if (isEntry(event.name)) {
        if (entries.length === entriesMax) return { channel, entries, hasMore: true };
        entry = new Map();
        entries.push(entry);
      }
      if (event.name === 'link') readLink(event, entry ?? channel);
      if (!event.empty && path.length < 64) path.push(event.name);
    }
  }
  return { channel, entries, hasMore: false };
}

function isEntry(name: string): boolean {
  return name === 'item' || name === 'entry';
}

/** Returns the entry's direct child that contains the text: XHTML inside an Atom summary belongs to the summary. */
function fieldOf(path: string[]): string {
  return path[path.findLastIndex(isEntry) + 1] ?? '';
}

function append(fields: Fields, name: string, text: string): void {
  const previous = fields.get(name) ?? '';
  if (name !== '' && previous.length < 200_000)
    fields.set(name, previous === '' ? text.trim() : `${previous} ${text.trim()}`);
}

/** Reads the entry's own link. Atom has it in the attribute `href`. */
function readLink(event: XmlEvent & { type: 'open' }, fields: Fields): void {
  const href = /\shref\s*=\s*["']([^"']*)["']/.exec(event.attributes)?.[1];
  const relation = /\srel\s*=\s*["']([^"']*)["']/.exec(event.attributes)?.[1] ?? 'alternate';
  if (href !== undefined && relation === 'alternate' && !fields.has('link')) fields.set('link', decodeEntities(href));
}
