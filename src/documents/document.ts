import { CarrelError } from '../base/errors.ts';

/** The kind of a document, by its content. `zip` is an archive of documents. */
export type DocumentKind =
  | 'html'
  | 'text'
  | 'markdown'
  | 'json'
  | 'xml'
  | 'feed'
  | 'pdf'
  | 'docx'
  | 'pptx'
  | 'xlsx'
  | 'odt'
  | 'ods'
  | 'odp'
  | 'epub'
  | 'rtf'
  | 'doc'
  | 'xls'
  | 'ppt'
  | 'msg'
  | 'csv'
  | 'yaml'
  | 'email'
  | 'notebook'
  | 'code'
  | 'image'
  | 'zip';

export type ExtractMode = 'text' | 'markdown';

/**
 * How much of a web page to keep: `content` is its main content, `page` everything not marked as navigation, footer or
 * advertisement, `all` everything visible.
 */
export type PageExtent = 'content' | 'page' | 'all';

export interface DocumentSource {
  bytes: Uint8Array;
  /** The Content-Type header as received. The bytes take precedence over it. */
  contentType?: string;
  /** Its extension decides the kind if the bytes cannot: Markdown, CSV, a programming language. Never used as a path. */
  filename?: string;
  /** The document's URL, against which links are resolved. Nothing is fetched. */
  url?: string;
  mode: ExtractMode;
  /** Default: `content`. */
  extent?: PageExtent;
  /** True to list the links of a page, feed or sitemap. */
  links?: boolean;
}

/**
 * Position of a part of the text, from `offset` up to the next mark. With `page`, the part belongs to this page. With `line`,
 * it matches the original line by line. A mark with neither has no known position.
 *
 * Offsets are UTF-16 units of the final `text`, after cleaning, trimming and truncating.
 */
export interface Mark {
  offset: number;
  /** Page of a PDF or slide of a presentation, from 1. */
  page?: number;
  /** Line number in the original, from 1, at `offset`. Later lines count up from it. */
  line?: number;
}

/** A document inside another: a file in an archive, an attachment of an email. */
export interface Member {
  /** As in the archive, but on one line. Never used as a path. */
  name: string;
  kind: DocumentKind;
  codeLanguage?: string;
  /** Offset in `text` of the heading with its name. */
  headingStart: number;
  /** Offsets in `text` of the member's text, without the heading. `end` is exclusive. */
  start: number;
  end: number;
}

/** A member without text, and why. */
export interface Omission {
  name: string;
  code: string;
  message: string;
}

export interface ExtractedDocument {
  title: string | null;
  text: string;
  kind: DocumentKind;
  /** For source code: a lower-case name such as `python` or `c++`. */
  codeLanguage?: string;
  /** Ascending by offset, at most one per offset. */
  marks: readonly Mark[];
  /** For archives and emails, in order. */
  members?: readonly Member[];
  /** For archives and emails: members that could not be read, at most a hundred. */
  omitted?: readonly Omission[];
  /** BCP 47 tag, as declared. */
  language: string | null;
  byline: string | null;
  /** As declared: not checked, not normalised. */
  published: string | null;
  /** Pages or slides of the whole document, even if `text` is truncated. */
  pages?: number;
  /** Set if OCR was used: the number of pages, and its confidence from 0 to 100. */
  recognised?: Recognised;
  /** Set if `text` is truncated. */
  truncated?: Truncation;
  /** Set if requested, for a page, feed or sitemap. */
  links?: DocumentLinks;
  /** CPU time of the extraction. */
  cpuMs?: number;
}

/** The links of a document: absolute, http or https, without fragments and duplicates. */
export interface DocumentLinks {
  /** All links except those marked `nofollow`. */
  readonly urls: readonly string[];
  /** True if the document has more links than `urls` lists. */
  readonly hasMore: boolean;
  readonly canonical: string | null;
  /** Directives of the page's `robots` meta tag. */
  readonly noindex: boolean;
  readonly nofollow: boolean;
  /** Entries of a feed or sitemap. */
  readonly entries: readonly ListedPage[];
  /** Further sitemaps of a sitemap index. */
  readonly sitemaps: readonly string[];
}

export interface ListedPage {
  readonly url: string;
  /** Last change, as listed. */
  readonly changed?: string | undefined;
}

export interface Recognised {
  pages: number;
  confidence: number;
}

/** How much of the document was read, and why not all of it. */
export interface Truncation {
  /** The limit that was reached: `textCharsMax`, or the CPU time of one extraction. */
  reason: 'characters' | 'cpu_time';
  read: number;
  /** The total number. Null if unknown, because the rest was not read. */
  of: number | null;
  unit: 'pages' | 'slides' | 'sheets' | 'chapters' | 'files' | 'characters';
}

/** Limits of one extraction, sent to the worker with each document. */
export interface ExtractLimits {
  textCharsMax: number;
  /** After this CPU time, a reader stops at the end of the current part, if it can, and returns what it has. */
  softCpuMs: number;
  pdfEnabled: boolean;
  /** Languages for OCR, as Tesseract names them: `eng`, `deu`. If empty or undefined, OCR is off. */
  ocrLanguages?: readonly string[];
}

/** A reader's result. `text` may be too long; it is truncated later, and the offsets adjusted. */
export interface Reading {
  title: string | null;
  text: string;
  kind?: DocumentKind;
  codeLanguage?: string;
  marks?: Mark[];
  members?: Member[];
  omitted?: Omission[];
  language?: string | null;
  byline?: string | null;
  published?: string | null;
  pages?: number;
  recognised?: Recognised;
  /** True if truncated, or how many of the parts were read. */
  truncated?: boolean | Omit<Truncation, 'reason'>;
  links?: DocumentLinks | undefined;
}

/** Options for every reader of a binary format. */
export interface ReadOptions {
  mode: ExtractMode;
  charsMax: number;
  /** CPU time, by `cpuMs()`, after which a reader stops at the end of the current part. */
  stopAt: number;
}

/** Returns the `truncated` of a reading in parts. `partTruncated` applies if all parts were read. */
export function truncatedParts(
  read: number,
  of: number,
  unit: Truncation['unit'],
  partTruncated: Reading['truncated'] = false,
): NonNullable<Reading['truncated']> {
  return read < of ? { read, of, unit } : partTruncated;
}

export function needsPassword(what = 'This document'): CarrelError {
  return new CarrelError('encrypted_document', `${what} needs a password. Save it without one and try again.`);
}
