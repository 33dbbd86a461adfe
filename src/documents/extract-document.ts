import { gunzipSync } from 'node:zlib';
import { CarrelError } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import { contentKind } from './content-kind.ts';
import type {
  DocumentKind,
  DocumentSource,
  ExtractedDocument,
  ExtractLimits,
  Reading,
  ReadOptions,
  Truncation,
} from './document.ts';
import type { MailFile } from './email.ts';
import {
  archiveMembers,
  joinMembers,
  type MemberSource,
  type MembersContext,
  nestedArchive,
  nothingReadable,
} from './members.ts';
import { cpuMs } from './reader-limits.ts';
import { cleanText } from './text/clean-text.ts';
import { finishText } from './text/finish-text.ts';
import { readText } from './text/read-text.ts';

/** Extracts the text of a document. Runs only in a worker, because a document may use up all its time and memory. */
export function extractDocument(source: DocumentSource, limits: ExtractLimits): Promise<ExtractedDocument> {
  return extract(source, limits, true);
}

/** `isTopLevel` is false for a document inside an archive or email. Archives inside others are not opened. */
async function extract(source: DocumentSource, limits: ExtractLimits, isTopLevel: boolean): Promise<ExtractedDocument> {
  const { contentType, filename, url } = source;
  const bytes = source.links === true ? gunzipIfCompressed(source.bytes) : source.bytes;
  const kind = contentKind(bytes, { contentType, name: filename ?? url });
  const { mode } = source;
  const stopAt = cpuMs() + limits.softCpuMs;
  const options = { mode, charsMax: limits.textCharsMax, stopAt };
  const read: MembersContext['read'] = (member, memberLimits) => extract(member, memberLimits, false);
  const context: MembersContext = { mode, limits, stopAt, read };
  if (kind === 'zip') {
    if (!isTopLevel) throw nestedArchive();
    return extractMembers('zip', archiveMembers(bytes), context);
  }
  if (kind === 'email') return extractMail(bytes, context, isTopLevel);
  if (kind === 'msg') {
    const { readMsg } = await import('./ole/msg.ts');
    return extractWithAttachments(readMsg(bytes, options), context, isTopLevel);
  }
  const reading =
    (await readBinary(kind, source, limits, options)) ?? (await readText(kind, { ...source, bytes }, limits));
  return finish(reading, kind, options);
}

/** Max unpacked bytes of a sitemap (sitemaps.org). */
const sitemapBytesMax = 52_428_800;

/** Unpacks gzip files, because sitemaps may be compressed. */
function gunzipIfCompressed(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: sitemapBytesMax }) : bytes;
}

/** Reads a binary format; undefined for text formats. Each reader is loaded on first use. */
async function readBinary(
  kind: DocumentKind,
  { bytes }: DocumentSource,
  limits: ExtractLimits,
  options: ReadOptions,
): Promise<Reading | undefined> {
  switch (kind) {
    case 'pdf':
      if (!limits.pdfEnabled) {
        const message = 'This is a PDF, and PDF is switched off on this server. Look for another format.';
        throw new CarrelError('unsupported_content_type', message);
      }
      return (await import('./pdf/pdf-text.ts')).readPdfText(bytes, options, limits.ocrLanguages);
    case 'image':
      if (!limits.ocrLanguages?.length) {
        const message = 'This is an image, and OCR is off here. Look for a version with text.';
        throw new CarrelError('unsupported_content_type', message);
      }
      return (await import('./ocr/read-image.ts')).readImage(bytes, limits.ocrLanguages, options);
    case 'docx':
      return (await import('./office/docx.ts')).readDocx(bytes, options);
    case 'pptx':
      return (await import('./office/pptx.ts')).readPptx(bytes, options);
    case 'xlsx':
      return (await import('./office/xlsx.ts')).readXlsx(bytes, options);
    case 'odt':
    case 'ods':
    case 'odp':
      return (await import('./office/odf.ts')).readOdf(kind, bytes, options);
    case 'epub':
      return (await import('./xml/epub.ts')).readEpub(bytes, options);
    case 'rtf':
      return (await import('./rtf/rtf.ts')).readRtf(bytes, options);
    case 'doc':
      return (await import('./ole/doc.ts')).readDoc(bytes, options);
    case 'xls':
      return (await import('./ole/xls.ts')).readXls(bytes, options);
    case 'ppt':
      return (await import('./ole/ppt.ts')).readPpt(bytes, options);
    default:
      return undefined;
  }
}

async function extractMail(
  bytes: Uint8Array,
  context: MembersContext,
  isTopLevel: boolean,
): Promise<ExtractedDocument> {
  const { readEmail, splitMailbox } = await import('./email.ts');
  const mails = isTopLevel ? splitMailbox(bytes) : undefined;
  if (mails !== undefined) {
    // Each mail is a member, so its attachments are not opened.
    const sources = mails.map((mail, index) => ({
      name: `Mail ${index + 1}`,
      contentType: 'message/rfc822',
      bytes: () => mail,
    }));
    return extractMembers('email', sources, context);
  }
  return extractWithAttachments(await readEmail(bytes, context.mode, context.limits.textCharsMax), context, isTopLevel);
}

/** Extracts an email with its attachments. */
async function extractWithAttachments(
  { reading, files }: { reading: Reading; files: readonly MailFile[] },
  context: MembersContext,
  isTopLevel: boolean,
): Promise<ExtractedDocument> {
  const mail = finish(reading, 'email', { charsMax: context.limits.textCharsMax, stopAt: context.stopAt });
  if (!isTopLevel || files.length === 0) return mail;
  const sources = files.map((file) => ({ ...file, bytes: () => file.bytes }));
  return { ...mail, ...(await joinMembers(mail, sources, context)) };
}

/** Extracts the members of an archive or mailbox, each with its own heading. */
async function extractMembers(
  kind: DocumentKind,
  sources: readonly MemberSource[],
  context: MembersContext,
): Promise<ExtractedDocument> {
  const joined = await joinMembers({ text: '', marks: [] }, sources, context);
  if (joined.members.length === 0) throw nothingReadable(joined.omitted);
  return { kind, title: null, language: null, byline: null, published: null, ...joined };
}

function finish(reading: Reading, kind: DocumentKind, bounds: Bounds): ExtractedDocument {
  const { text, marks } = finishText(reading.text, reading.marks ?? [], bounds.charsMax);
  if (text === '') assertMayBeEmpty(kind, reading.pages);
  const { codeLanguage, pages, recognised, links } = reading;
  const truncated = truncationOf(reading, text, bounds);
  return {
    title: cleanProperty(reading.title),
    text,
    kind: reading.kind ?? kind,
    ...(codeLanguage === undefined ? {} : { codeLanguage }),
    marks,
    language: cleanProperty(reading.language),
    byline: cleanProperty(reading.byline),
    published: cleanProperty(reading.published),
    ...(pages === undefined ? {} : { pages }),
    ...(recognised === undefined ? {} : { recognised }),
    ...(truncated === undefined ? {} : { truncated }),
    ...(links === undefined ? {} : { links }),
  };
}

type Bounds = Pick<ReadOptions, 'charsMax' | 'stopAt'>;

function truncationOf(reading: Reading, text: string, { charsMax, stopAt }: Bounds): Truncation | undefined {
  const isLong = reading.text.length > charsMax;
  const { truncated = false } = reading;
  if (truncated === false && !isLong) return undefined;
  const reason = isLong || cpuMs() <= stopAt ? 'characters' : 'cpu_time';
  if (typeof truncated === 'object') return { reason, ...truncated };
  // A reader that stopped early does not know how much is left.
  return { reason, read: text.length, of: truncated ? null : reading.text.length, unit: 'characters' };
}

/** Throws for an empty PDF or office document, which usually has only images. An empty text file is fine. */
function assertMayBeEmpty(kind: DocumentKind, pages = 0): void {
  if (kind === 'pdf') {
    const message = 'This PDF has no readable text, only images of pages. Look for a version with text.';
    throw new CarrelError('no_text_in_document', message, { data: { pages } });
  }
  if (['docx', 'pptx', 'xlsx', 'odt', 'ods', 'odp', 'epub', 'rtf', 'doc', 'xls', 'ppt'].includes(kind)) {
    const message = 'This document has no text: it is empty or has only images. Look for a version with text.';
    throw new CarrelError('no_text_in_document', message);
  }
}

function cleanProperty(value: string | null | undefined): string | null {
  const line = oneLine(cleanText((value ?? '').slice(0, 1000))).slice(0, 300);
  return line === '' ? null : line;
}
