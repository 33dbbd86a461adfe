import { CarrelError } from '../base/errors.ts';
import { kindOfZip } from './archive/zip-kind.ts';
import type { DocumentKind } from './document.ts';
import { kindOfOle, oldOfficeError } from './ole/ole-kind.ts';
import { codeLanguageOf, codeLanguageOfType, endingOf, fileName, invert } from './text/code-language.ts';

/** What is known about a document besides its bytes. */
export interface ContentHints {
  contentType?: string | undefined;
  /** File name or source address. */
  name?: string | undefined;
}

/**
 * Returns the kind of a document: by its bytes if they are conclusive, then by the header, then by its name. Throws
 * `unsupported_content_type` for kinds without text, and `encrypted_document` if the document needs a password.
 */
export function contentKind(bytes: Uint8Array, { contentType, name }: ContentHints = {}): DocumentKind {
  const type = mediaType(contentType);
  const start = latin1(bytes, 1024);
  const binary = binaryKind(bytes, start, type);
  if (binary) return binary;
  const markup = markupKind(latin1(bytes, 4096));
  if (markup === 'html' || markup === 'feed') return markup;
  if (looksLikeEmail(latin1(bytes, 8192))) return 'email';
  const kindByName = kindOfName(name, start);
  // Accepts source files of any type, because MIME tables list `.ts` as video.
  if (/^(?:image|audio|video|font|model)\//.test(type) && type !== 'image/svg+xml' && kindByName !== 'code') {
    throw unsupported(type);
  }
  const kind = kindOfType(type) ?? kindByName ?? markup ?? kindOfText(type, start);
  // A text without header fields is not read as mail: it would lose its first lines.
  return kind === 'email' && !/^(?:[\x21-\x39\x3b-\x7e]+:|From )/.test(start) ? 'text' : kind;
}

/** Recognises binary formats by their first bytes. Throws if they are not supported. */
function binaryKind(bytes: Uint8Array, start: string, type: string): DocumentKind | undefined {
  if (start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06')) return kindOfZip(bytes);
  if (start.startsWith('\xd0\xcf\x11\xe0')) return kindOfOle(bytes);
  if (/^\s*\{\\rtf/.test(start)) return 'rtf';
  if (/^\s*%PDF-/.test(start)) return 'pdf';
  if (isImage(start)) return 'image';
  const isBinary = binaryStarts.some((magic) => start.startsWith(magic)) || looksBinary(bytes);
  // Like other PDF readers, accepts garbage before the header, unless the file is a text that merely mentions it.
  if (start.includes('%PDF-') && (isBinary || type === 'application/pdf' || /%PDF-\d\.\d\s/.test(start))) return 'pdf';
  if (isBinary) throw oldOfficeError(start) ?? unsupported(type);
  return undefined;
}

function mediaType(contentType = ''): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function kindOfType(type: string): DocumentKind | undefined {
  const kind = kindsOfTypes.get(type);
  if (kind) return kind;
  if (type.endsWith('+json')) return 'json';
  if (type.endsWith('+yaml')) return 'yaml';
  if (type.endsWith('+xml')) return 'xml';
  return codeLanguageOfType(type) === undefined ? undefined : 'code';
}

const kindsOfTypes = invert<DocumentKind>({
  html: 'text/html application/xhtml+xml',
  markdown: 'text/markdown text/x-markdown',
  json: 'application/json text/json application/x-ndjson application/ndjson application/jsonl application/jsonlines',
  feed: 'application/rss+xml application/atom+xml',
  xml: 'application/xml text/xml',
  csv: 'text/csv text/tab-separated-values application/csv',
  yaml: 'application/yaml application/x-yaml text/yaml text/x-yaml',
  email: 'message/rfc822 application/mbox',
});

const kindsOfEndings = invert<DocumentKind>({
  markdown: 'md markdown mdx',
  json: 'json jsonl ndjson geojson ipynb',
  csv: 'csv tsv',
  yaml: 'yaml yml',
  email: 'eml mbox',
  html: 'html htm',
  xml: 'xml',
  text: 'txt text log',
});

function kindOfName(name: string | undefined, start: string): DocumentKind | undefined {
  const kind = kindsOfEndings.get(endingOf(fileName(name)));
  if (kind !== undefined && !(kind === 'text' && codeLanguageOf(name, '') !== undefined)) return kind;
  return codeLanguageOf(name, start) === undefined ? undefined : 'code';
}

/** Types read as plain text. Other `application/` types are formats of programs. */
const textTypes = /^(?:text\/.+|application\/(?:(?:x-)?(?:tex|latex|subrip|troff)|rtf))$/;

function kindOfText(type: string, start: string): DocumentKind {
  if (textTypes.test(type)) return 'text';
  if (type === '' || type === 'application/octet-stream' || type === 'binary/octet-stream') {
    return /^\s*[[{]/.test(start) ? 'json' : 'text';
  }
  throw unsupported(type);
}

/** Detects a saved email. Any text may begin with `name: value` lines, so one field must be specific to mail (RFC 5322 §3.6). */
function looksLikeEmail(start: string): boolean {
  const head = start.split(/\r?\n\r?\n/, 1)[0] ?? '';
  const fields = new Set<string>();
  for (const [index, line] of head.split(/\r?\n/).entries()) {
    const field = /^([\x21-\x39\x3b-\x7e]{1,80}):/.exec(line)?.[1]?.toLowerCase();
    if (field !== undefined) fields.add(field);
    else if (!/^[ \t]/.test(line) && !(index === 0 && line.startsWith('From '))) return false;
  }
  const hasTransport = ['message-id', 'received', 'mime-version', 'return-path'].some((name) => fields.has(name));
  return hasTransport && fields.has('from') && (fields.has('date') || fields.has('to') || fields.has('subject'));
}

/** Detects markup by its first tag, after comments, declarations and white space. */
function markupKind(text: string): 'html' | 'feed' | 'xml' | undefined {
  let remaining = text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '');
  let hasXmlDeclaration = false;
  for (let step = 0; step < 50; step += 1) {
    remaining = remaining.trimStart();
    const declaration = /^<\?[^>]*>|^<!--[\s\S]*?-->|^<!doctype\s+(?!html)[^>[]*(?:\[[^\]]*\]\s*)?>/i.exec(
      remaining,
    )?.[0];
    if (declaration === undefined) break;
    hasXmlDeclaration ||= declaration.startsWith('<?xml');
    remaining = remaining.slice(declaration.length);
  }
  if (/^<!doctype\s+html/i.test(remaining) || /^<(?:html|head|body)[\s>]/i.test(remaining)) return 'html';
  if (/^<(?:rss|rdf:RDF|feed)[\s>]/.test(remaining)) return 'feed';
  return hasXmlDeclaration ? 'xml' : undefined;
}

/** First bytes of programs, archives, images, audio, video, fonts and databases. */
const binaryStarts = [
  ...'\x7fELF MZ\x90 \x1f\x8b BZh \xfd7zXZ 7z\xbc\xaf Rar!\x1a \x28\xb5\x2f\xfd GIF87a GIF89a RIFF'.split(' '),
  ...'OggS ID3 fLaC \x1aE\xdf\xa3 \0asm wOFF wOF2 \xca\xfe\xba\xbe \xcf\xfa\xed\xfe \0\0\x01\0'.split(' '),
  'SQLite format 3\0',
];

/** True for the image formats that OCR can read. */
function isImage(start: string): boolean {
  return (
    ['\x89PNG', '\xff\xd8\xff', 'II*\0', 'MM\0*'].some((magic) => start.startsWith(magic)) ||
    (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP')
  );
}

/** Detects control characters that no text has. In UTF-16, NULs are normal at even or at odd positions, but not at both. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 8192);
  if (sample.length === 0) return false;
  if (hasUtf16Mark(sample)) return hasControls(sample);
  const nuls: [number, number] = [0, 0];
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) nuls[index % 2 === 0 ? 0 : 1] += 1;
    else if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) controls += 1;
  }
  if (controls > sample.length * 0.02) return true;
  const [evenNuls, oddNuls] = nuls;
  if (evenNuls + oddNuls === 0) return false;
  // Latin text in UTF-16 has many NULs, nearly all at even or all at odd positions.
  const majority = Math.max(evenNuls, oddNuls);
  return Math.min(evenNuls, oddNuls) > majority * 0.05 || majority < sample.length * 0.2;
}

/** Decodes UTF-16 and counts control characters. Its single bytes would look like control characters. */
function hasControls(bytes: Uint8Array): boolean {
  const encoding = bytes[0] === 0xff ? 'utf-16le' : 'utf-16be';
  const text = new TextDecoder(encoding).decode(bytes, { stream: true });
  return (text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0) > text.length * 0.02;
}

function hasUtf16Mark(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

function latin1(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, length)).toString('latin1');
}

const supportedKinds =
  'PDF, Word, PowerPoint and Excel files (docx, pptx, xlsx, doc, ppt, xls), OpenDocument, EPUB, RTF, HTML, feeds, Markdown, text, CSV, JSON, XML, YAML, mail (eml, mbox, msg), notebooks, source code and zip archives of these';

function unsupported(type: string): CarrelError {
  const message = `This kind of document is not supported. Supported kinds: ${supportedKinds}.`;
  const isValid = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type);
  return new CarrelError('unsupported_content_type', message, { data: isValid ? { contentType: type } : {} });
}
