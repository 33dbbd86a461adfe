/** A document of the fake's index, with Fess's fields. */
export interface FakeDocument {
  /** 32 hexadecimal digits, new at every crawl. */
  docId: string;
  url: string;
  title?: string;
  /** The whole indexed text. Answers include it only if the operator listed `content` as a response field. */
  content: string;
  /** The first 120 characters of HTML, or 200 of a file. Some documents have none. */
  digest?: string;
  labels: readonly string[];
  /** Permissions such as `Rguest`; the caller needs one of them. `D…` denies. */
  roles: readonly string[];
  mimetype: string;
  filetype: string;
  filename?: string;
  lang: string;
  /** Missing on documents added through the admin API. */
  created?: string;
  lastModified?: string;
  contentLength: number;
  /** The crawler writes content_length and boost as text, the admin API as numbers. */
  indexedBy: 'crawler' | 'api';
  location?: { latitude: number; longitude: number };
  /** The HTML that the crawler stored for `/cache`. */
  cachedHtml?: string;
  /** The file that `/go` streams for a file-system document. */
  file?: { contentType: string; bytes: Uint8Array };
  clickCount: number;
}

/** Returns the values that `field:` in a query is compared with, or undefined if Fess does not search this field. */
export function fieldValues(document: FakeDocument, field: string): readonly string[] | undefined {
  switch (field) {
    case 'title':
      return [document.title ?? ''];
    case 'content':
      return [document.content];
    case 'url':
      return [document.url];
    case 'inurl':
      return [document.url];
    case 'host':
      return [hostOf(document)];
    case 'site':
      return [siteOf(document)];
    case 'doc_id':
      return [document.docId];
    case 'label':
      return document.labels;
    case 'mimetype':
      return [document.mimetype];
    case 'filetype':
      return [document.filetype];
    case 'filename':
      return document.filename === undefined ? [] : [document.filename];
    case 'lang':
      return [document.lang];
    case 'content_length':
      return [String(document.contentLength)];
    case 'last_modified':
      return document.lastModified === undefined ? [] : [document.lastModified];
    case 'timestamp':
      return timestampOf(document) ?? [];
    case 'click_count':
      return [String(document.clickCount)];
    case 'favorite_count':
      return ['0'];
    case 'segment':
    case 'anchor':
      return [];
    default:
      return undefined;
  }
}

function timestampOf({ lastModified, created }: FakeDocument): string[] | undefined {
  const time = lastModified ?? created;
  return time === undefined ? undefined : [time];
}

export function hostOf(document: FakeDocument): string {
  return document.url.startsWith('file:') ? 'localhost' : new URL(document.url).hostname;
}

export function siteOf(document: FakeDocument): string {
  return document.url.replace(/^[a-z0-9]+:\/+/, '');
}
