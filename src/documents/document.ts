export type DocumentKind = 'html' | 'text' | 'markdown' | 'json' | 'xml' | 'feed' | 'pdf';

export type ExtractMode = 'text' | 'markdown';

export interface DocumentSource {
  bytes: Uint8Array;
  /** The Content-Type header as it came. The bytes are believed before it. */
  contentType?: string;
  /** Where the document came from: links of a page are resolved against it. Nothing is fetched. */
  url?: string;
  mode: ExtractMode;
  /** Of a page take everything that is shown, not only what looks like its content. */
  whole?: boolean;
}

export interface ExtractedDocument {
  title: string | null;
  text: string;
  kind: DocumentKind;
  /** BCP 47 tag as the document declares it. */
  language: string | null;
  byline: string | null;
  /** As the document declares it: not checked, not normalised. */
  published: string | null;
  /** Pages of the whole document, also when `text` stops before its end. */
  pages?: number;
  /** `text` stops before the end of the document: at `textCharsMax`, or because time ran out between two pages. */
  truncated: boolean;
}

/** What one extraction may use; reaches the worker with every document. */
export interface ExtractLimits {
  textCharsMax: number;
  /** A reader that can stop between two parts does so after this time and returns what it has. */
  softTimeoutMs: number;
  pdfEnabled: boolean;
}

/** What a reader found. `text` may be longer than allowed; it is cut afterwards. */
export interface Reading {
  title: string | null;
  text: string;
  kind?: DocumentKind;
  language?: string | null;
  byline?: string | null;
  published?: string | null;
  pages?: number;
  truncated?: boolean;
}
