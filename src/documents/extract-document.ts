import { CarrelError } from '../base/errors.ts';
import { decodeBytes } from './charset.ts';
import { cleanText } from './clean-text.ts';
import { contentKind } from './content-kind.ts';
import type { DocumentKind, DocumentSource, ExtractedDocument, ExtractLimits, Reading } from './document.ts';
import { readFeed } from './feed.ts';
import { readHtml } from './html/read-html.ts';
import { printJson } from './print-json.ts';
import { outlineXml } from './xml.ts';

/** Runs in a worker only: one call may take all the time and memory that the worker has. */
export async function extractDocument(source: DocumentSource, limits: ExtractLimits): Promise<ExtractedDocument> {
  const kind = contentKind(source.bytes, source.contentType, source.url);
  const reading = kind === 'pdf' ? await readPdf(source, limits) : await readText(kind, source, limits);
  const text = cleanText(reading.text.slice(0, limits.textCharsMax)).trim();
  if (text === '' && kind === 'pdf') {
    throw new CarrelError(
      'no_text_in_document',
      'This PDF holds no text, only images of pages. Look for a version with text.',
      { data: { pages: reading.pages ?? 0 } },
    );
  }
  return {
    title: oneLine(reading.title),
    text,
    kind: reading.kind ?? kind,
    language: oneLine(reading.language),
    byline: oneLine(reading.byline),
    published: oneLine(reading.published),
    ...(reading.pages === undefined ? {} : { pages: reading.pages }),
    truncated: reading.truncated === true || reading.text.length > limits.textCharsMax,
  };
}

async function readPdf(source: DocumentSource, limits: ExtractLimits): Promise<Reading> {
  if (!limits.pdfEnabled) {
    throw new CarrelError('unsupported_content_type', 'This is a PDF, and reading PDF is switched off here.');
  }
  // Loaded only when the first PDF comes: the reader is 2 MB of code.
  const { readPdfText } = await import('./pdf-text.ts');
  return readPdfText(source.bytes, limits);
}

async function readText(
  kind: Exclude<DocumentKind, 'pdf'>,
  source: DocumentSource,
  limits: ExtractLimits,
): Promise<Reading> {
  const { bytes, contentType, url, mode, whole = false } = source;
  const text = await decodeBytes(bytes, contentType, kind);
  switch (kind) {
    case 'html':
      return readHtml(text, { mode, url, whole, charsMax: limits.textCharsMax });
    case 'feed':
      return readFeed(text, { mode, url, charsMax: limits.textCharsMax });
    case 'json': {
      const printed = printJson(text, limits.textCharsMax);
      return printed === null ? { title: null, text, kind: 'text' } : { title: null, ...printed };
    }
    case 'xml':
      return outlineXml(text, limits.textCharsMax);
    case 'markdown':
      return { title: markdownTitle(text), text: withUnixLines(text) };
    case 'text':
      return { title: null, text: withUnixLines(text) };
  }
}

/** The first ATX heading, or the first line that is underlined with `=`, outside of code fences, near the start. */
function markdownTitle(markdown: string): string | null {
  const lines = markdown.slice(0, 20_000).split(/\r?\n/);
  let fenced = false;
  for (const [index, line] of lines.entries()) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) fenced = !fenced;
    if (fenced) continue;
    const heading = /^ {0,3}#{1,6}[ \t](.*)$/.exec(line)?.[1];
    if (heading?.trim()) return heading.trim().replace(/[ \t]#+$/, '');
    if (line.trim() && /^={3,}[ \t]*$/.test(lines[index + 1] ?? '')) return line.trim();
  }
  return null;
}

function withUnixLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

function oneLine(value: string | null | undefined): string | null {
  const line = cleanText((value ?? '').slice(0, 1000))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
  return line === '' ? null : line;
}
