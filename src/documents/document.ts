import { CarrelError } from '../base/errors.ts';

/** The kind of a document, by its content. A zip archive of documents is `zip`; its content is in `members`. */
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
  /** The Content-Type header as received. The bytes take precedence. */
  contentType?: string;
  /** Its extension decides if the bytes cannot: Markdown, CSV, the language of source code. Never used as a path. */
  filename?: string;
  /** The source address, against which links are resolved. Nothing is fetched. */
  url?: string;
  mode: ExtractMode;
  /** Default: `content`. */
  extent?: PageExtent;
  /** True to list the links of a page, feed or sitemap. */
  links?: boolean;
}

/**
 * From `offset` up to the next mark, the text belongs to this page or matches the original line by line. A mark with neither
 * ends the previous one.
 *
 * Offsets are UTF-16 units of the final `text`, after cleaning, trimming and truncating.
 */
export interface Mark {
  offset: number;
  /** Page of a PDF or slide of a presentation, from 1. */
  page?: number;
  /** Original number, from 1, of the line at `offset`; later lines count up from it. */
  line?: number;
}

/** A document inside another: a file in an archive, an attachment of an email. */
export interface Member {
  /** As in the archive, on one line. A name, never a path to follow. */
  name: string;
  kind: DocumentKind;
  codeLanguage?: string;
  /** Start of the line that names it. */
  headingStart: number;
  /** Its part of `text`, without its heading. `end` is exclusive. */
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
  /** For archives and emails: unreadable members, at most a hundred. */
  omitted?: readonly Omission[];
  /** BCP 47 tag, as declared. */
  language: string | null;
  byline: string | null;
  /** As declared: not checked, not normalised. */
  published: string | null;
  /** Pages or slides of the whole document, even if `text` is truncated. */
  pages?: number;
  /** If OCR was used: on how many pages, and its confidence, 0 to 100. */
  recognised?: Recognised;
  /** Set if `text` is truncated. */
  truncated?: Truncation;
  /** If requested, for a page, feed or sitemap. */
  links?: DocumentLinks;
  /** CPU time of the extraction. */
  cpuMs?: number;
}

/** The links of a document: absolute, http or https, without fragments and duplicates. */
export interface DocumentLinks {
  /** Without `nofollow` links. */
  readonly urls: readonly string[];
  /** True if there are more than listed. */
  readonly hasMore: boolean;
  readonly canonical: string | null;
  /** The page's request to robots. */
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

/** What was omitted, and why. */
export interface Truncation {
  /** The limit that was reached: `textCharsMax`, or the CPU time of one extraction. */
  reason: 'characters' | 'cpu_time';
  read: number;
  /** Null if unknown without further reading. */
  of: number | null;
  unit: 'pages' | 'slides' | 'sheets' | 'chapters' | 'files' | 'characters';
}

/** Limits of one extraction, sent to the worker with each document. */
export interface ExtractLimits {
  textCharsMax: number;
  /** A reader that can stop between two parts does so after this CPU time and returns what it has. */
  softCpuMs: number;
  pdfEnabled: boolean;
  /** For OCR, in Tesseract's names: `eng`, `deu`. Without any, OCR is off. */
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
  /** True, or how many of its parts were read. */
  truncated?: boolean | Omit<Truncation, 'reason'>;
  links?: DocumentLinks | undefined;
}

/** What every reader of a binary format gets. */
export interface ReadOptions {
  mode: ExtractMode;
  charsMax: number;
  /** On the clock of `cpuMs`: a reader stops after this, between two parts. */
  stopAt: number;
}

export function needsPassword(what = 'This document'): CarrelError {
  return new CarrelError('encrypted_document', `${what} needs a password. Save it without one and try again.`);
}
