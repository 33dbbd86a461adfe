import type { DocumentKind, DocumentSource, ExtractLimits, Reading } from '../document.ts';
import { readHtml } from '../html/read-html.ts';
import { findLinks } from '../links/find-links.ts';
import { readFeed } from '../xml/feed.ts';
import { outlineXml } from '../xml/xml.ts';
import { decodeBytes } from './charset.ts';
import { codeLanguageOf, codeLanguageOfType } from './code-language.ts';
import { markdownTitle } from './markdown-title.ts';
import { looksLikeNotebook, readNotebook } from './notebook.ts';
import { printJson } from './print-json.ts';

/** Reads a text document. Text without markup keeps its lines, so that line numbers can be cited. */
export async function readText(kind: DocumentKind, source: DocumentSource, limits: ExtractLimits): Promise<Reading> {
  const { bytes, contentType, url } = source;
  const text = await decodeBytes(bytes, contentType, kind);
  const reading = readDecoded(kind, text, source, limits);
  return source.links === true ? { ...reading, links: findLinks(kind, text, url) } : reading;
}

function readDecoded(kind: DocumentKind, text: string, source: DocumentSource, limits: ExtractLimits): Reading {
  const { url, mode, extent = 'content' } = source;
  const charsMax = limits.textCharsMax;
  switch (kind) {
    case 'html':
      return readHtml(text, { mode, url, extent, charsMax });
    case 'feed':
      return readFeed(text, { mode, url, charsMax });
    case 'xml':
      return outlineXml(text, charsMax);
    case 'json':
      return readJson(text, source, charsMax);
    case 'markdown':
      return { ...plainReading(text), title: markdownTitle(text) };
    case 'code':
      return { ...plainReading(text), ...languageOf(source, text) };
    default:
      return plainReading(text);
  }
}

function plainReading(text: string): Reading & { title: null } {
  return { title: null, text: withUnixLines(text), marks: [{ offset: 0, line: 1 }] };
}

function readJson(text: string, { mode }: DocumentSource, charsMax: number): Reading {
  if (looksLikeNotebook(text)) return readNotebook(text, mode, charsMax);
  if (hasValuePerLine(text)) return plainReading(text);
  const formatted = printJson(text, charsMax);
  return formatted === null ? { ...plainReading(text), kind: 'text' } : { title: null, ...formatted };
}

/** Detects JSON Lines: each of the first two lines is a JSON value. */
function hasValuePerLine(text: string): boolean {
  const [first = '', second = ''] = text.slice(0, 200_000).split('\n', 2);
  return second.trim() !== '' && isJson(first) && isJson(second);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function languageOf({ filename, url, contentType = '' }: DocumentSource, text: string): { codeLanguage?: string } {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const codeLanguage = codeLanguageOf(filename ?? url, text) ?? codeLanguageOfType(type);
  return codeLanguage === undefined ? {} : { codeLanguage };
}

function withUnixLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}
