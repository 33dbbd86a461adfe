import { CarrelError } from '../base/errors.ts';

/** What a document is, by its content. A zip archive of documents is `zip`; what lies in it is in `members`. */
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
 * How much of a web page is taken: `content` is its main content, `page` also everything else that is not marked as
 * navigation, footer or advertisement, and `all` everything visible.
 */
export type PageExtent = 'content' | 'page' | 'all';

export interface DocumentSource {
  bytes: Uint8Array;
  /** The Content-Type header as received. The bytes take precedence. */
  contentType?: string;
  /** Its extension decides where bytes cannot: Markdown, CSV, the language of source code. Never used as a path. */
  filename?: string;
  /** Where the document came from: links of a page are resolved against it. Nothing is fetched. */
  url?: string;
  mode: ExtractMode;
  /** Default: `content`. */
  extent?: PageExtent;
  /** Whether to list where a page, feed or sitemap leads to. */
  links?: boolean;
}

/**
 * From `offset` on, up to the next mark, the text is of this page, or is the original line by line. A mark with neither
 * ends what the one before it said.
 *
 * Offsets are UTF-16 units of the final `text`: after hidden characters were removed, and it was trimmed and truncated.
 */
export interface Mark {
  offset: number;
  /** Page of a PDF, slide of a presentation, from 1. */
  page?: number;
  /** Number, from 1, that the line at `offset` has in the original; the following lines count on from it. */
  line?: number;
}

/** A document inside another: a file in an archive, an attachment of an email. */
export interface Member {
  /** As in the archive, on one line. A name, never a path to follow. */
  name: string;
  kind: DocumentKind;
  codeLanguage?: string;
  /** Where the line that names it begins. */
  headingStart: number;
  /** Its part of `text`, without the heading that names it. `end` is the first unit after it. */
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
  /** Of source code: a lower-case name such as `python` or `c++`. */
  codeLanguage?: string;
  /** In ascending order of their offsets, at most one for each. */
  marks: readonly Mark[];
  /** Of archives and emails, in order. */
  members?: readonly Member[];
  /** Of archives and emails: at most a hundred that could not be read. */
  omitted?: readonly Omission[];
  /** BCP 47 tag as the document declares it. */
  language: string | null;
  byline: string | null;
  /** As the document declares it: not checked, not normalised. */
  published: string | null;
  /** Pages or slides of the whole document, also when `text` stops before its end. */
  pages?: number;
  /** Where text was read from pictures: on how many pages, and how sure that is, 0 to 100. */
  recognised?: Recognised;
  /** Where `text` stops before the end of the document. */
  truncated?: Truncation;
  /** Where they were asked for, and the document is a page, feed or sitemap. */
  links?: DocumentLinks;
  /** CPU time that it took to read. */
  cpuMs?: number;
}

/** Where a document leads to. All addresses are absolute, http or https, without fragments, and each is listed once. */
export interface DocumentLinks {
  /** Without those that are marked `nofollow`. */
  readonly urls: readonly string[];
  /** Whether there are more than listed. */
  readonly hasMore: boolean;
  readonly canonical: string | null;
  /** What the page asks of robots. */
  readonly noindex: boolean;
  readonly nofollow: boolean;
  /** Entries of a feed or sitemap. */
  readonly entries: readonly ListedPage[];
  /** Further sitemaps of a sitemap index. */
  readonly sitemaps: readonly string[];
}

export interface ListedPage {
  readonly url: string;
  /** When it last changed, as the listing has it. */
  readonly changed?: string | undefined;
}

export interface Recognised {
  pages: number;
  confidence: number;
}

/** What was left out, and why. */
export interface Truncation {
  /** The bound that was reached: `textCharsMax`, or the CPU time of one extraction. */
  reason: 'characters' | 'cpu_time';
  read: number;
  /** Null if only further reading would tell. */
  of: number | null;
  unit: 'pages' | 'slides' | 'sheets' | 'chapters' | 'files' | 'characters';
}

/** What one extraction may use; reaches the worker with every document. */
export interface ExtractLimits {
  textCharsMax: number;
  /** A reader that can stop between two parts does so after this CPU time and returns what it has. */
  softCpuMs: number;
  pdfEnabled: boolean;
  /** Of pictures, as Tesseract names them: `eng`, `deu`. Without any, text in pictures is not read. */
  ocrLanguages?: readonly string[];
}

/** What a reader found. `text` may be longer than allowed; it is truncated afterwards, and the offsets adjusted. */
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
  /** On the clock of `cpuMs`: between two parts, a reader stops after this. */
  stopAt: number;
}

export function needsPassword(what = 'This document'): CarrelError {
  return new CarrelError('encrypted_document', `${what} needs a password. Save it without one and try again.`);
}
