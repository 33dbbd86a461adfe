import { CarrelError } from '../base/errors.ts';
import type { DocumentKind } from './document.ts';

/**
 * What the document is: by its bytes where they are plain about it, then by the header, then by the address.
 * Throws `unsupported_content_type` for what has no text of its own.
 */
export function contentKind(bytes: Uint8Array, contentType?: string, url?: string): DocumentKind {
  const type = mediaType(contentType);
  const start = latin1(bytes, 1024);
  // Readers accept leading rubbish before the header of a PDF, and so do we.
  if (start.includes('%PDF-')) return 'pdf';
  if (binaryStarts.some((magic) => start.startsWith(magic)) || looksBinary(bytes)) throw unsupported(type);
  const markup = markupKind(latin1(bytes, 4096));
  if (markup === 'html' || markup === 'feed') return markup;
  if (/^(?:image|audio|video|font|model)\//.test(type) && type !== 'image/svg+xml') throw unsupported(type);
  return kindOfType(type) ?? kindOfAddress(url) ?? markup ?? kindOfText(type, start);
}

function mediaType(contentType = ''): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function kindOfType(type: string): DocumentKind | undefined {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === 'text/markdown' || type === 'text/x-markdown') return 'markdown';
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/rss+xml' || type === 'application/atom+xml') return 'feed';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  return undefined;
}

function kindOfAddress(url = ''): DocumentKind | undefined {
  const path = url.replace(/[?#].*$/s, '').toLowerCase();
  if (/\.(?:md|markdown|mdx)$/.test(path)) return 'markdown';
  if (path.endsWith('.json')) return 'json';
  return undefined;
}

/** `application/` types that are text; others in that tree are programs' own formats. */
const textTypes =
  /^(?:text\/.+|application\/(?:(?:x-)?(?:javascript|ecmascript|typescript|yaml|toml|sh|shellscript|sql|tex|latex|ndjson|jsonlines|subrip|php|httpd-php|perl|python|ruby|csh|troff)|graphql|jsonl|rtf)|message\/rfc822)$/;

function kindOfText(type: string, start: string): DocumentKind {
  if (textTypes.test(type)) return 'text';
  if (type === '' || type === 'application/octet-stream' || type === 'binary/octet-stream') {
    return /^\s*[[{]/.test(start) ? 'json' : 'text';
  }
  throw unsupported(type);
}

/** What the first tag says. Comments, declarations and white space before it are passed over. */
function markupKind(text: string): 'html' | 'feed' | 'xml' | undefined {
  let rest = text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '');
  let declared = false;
  for (let step = 0; step < 50; step += 1) {
    rest = rest.trimStart();
    const skipped = /^<\?[^>]*>|^<!--[\s\S]*?-->|^<!doctype\s+(?!html)[^>[]*(?:\[[^\]]*\]\s*)?>/i.exec(rest)?.[0];
    if (skipped === undefined) break;
    declared ||= skipped.startsWith('<?xml');
    rest = rest.slice(skipped.length);
  }
  if (/^<!doctype\s+html/i.test(rest) || /^<(?:html|head|body)[\s>]/i.test(rest)) return 'html';
  if (/^<(?:rss|rdf:RDF|feed)[\s>]/.test(rest)) return 'feed';
  return declared ? 'xml' : undefined;
}

const binaryStarts = [
  'PK\x03\x04',
  'PK\x05\x06',
  '\x7fELF',
  'MZ\x90',
  '\x1f\x8b',
  'BZh',
  '\xfd7zXZ',
  '7z\xbc\xaf',
  'Rar!\x1a',
  '\x28\xb5\x2f\xfd',
  '\x89PNG',
  'GIF87a',
  'GIF89a',
  '\xff\xd8\xff',
  'RIFF',
  'OggS',
  'ID3',
  'fLaC',
  '\x1aE\xdf\xa3',
  '\0asm',
  'wOFF',
  'wOF2',
  '\xd0\xcf\x11\xe0',
  '\xca\xfe\xba\xbe',
  '\xcf\xfa\xed\xfe',
  'SQLite format 3\0',
  'II*\0',
  'MM\0*',
  '\0\0\x01\0',
];

/** Control characters that no text has. NUL is in every second place of UTF-16, so two bytes are looked at together. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 8192);
  if (sample.length === 0) return false;
  const nuls: [number, number] = [0, 0];
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) nuls[index % 2 === 0 ? 0 : 1] += 1;
    else if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) controls += 1;
  }
  if (controls > sample.length * 0.02) return true;
  const [even, odd] = nuls;
  if (even + odd === 0 || hasUtf16Mark(sample)) return false;
  // Latin text in UTF-16 without a mark: nearly all NULs on one side, and many of them.
  const most = Math.max(even, odd);
  return Math.min(even, odd) > most * 0.05 || most < sample.length * 0.2;
}

function hasUtf16Mark(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

function latin1(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, length)).toString('latin1');
}

function unsupported(type: string): CarrelError {
  return new CarrelError(
    'unsupported_content_type',
    'This is not a kind of document that we read. HTML, plain text, Markdown, JSON, XML, feeds and PDF can be read.',
    { data: /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? { contentType: type } : {} },
  );
}
