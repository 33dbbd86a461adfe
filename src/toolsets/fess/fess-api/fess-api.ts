import type { FessFacets, FessGeo } from '../parameter-guard.ts';

/**
 * The functions of Fess that the toolset needs, in any API version. They validate their input and throw `CarrelError`:
 * `fess_error`, `fess_unreachable`, `fess_timeout`, `cancelled`, `invalid_arguments`, `resource_not_found`.
 */
export interface FessApi {
  search(request: FessSearchRequest, options?: FessCallOptions): Promise<FessSearchAnswer>;
  suggest(request: FessSuggestRequest, options?: FessCallOptions): Promise<FessSuggestion[]>;
  popularWords(request: FessPopularWordsRequest, options?: FessCallOptions): Promise<string[]>;
  /** Lists all labels that Fess shows to this server, of all domains. */
  labels(options?: FessCallOptions): Promise<FessLabel[]>;
  /** Resolves even if the status is `red`. Throws `fess_error` if the search engine does not respond. */
  health(options?: FessCallOptions): Promise<FessHealth>;
  /** Finds the document with this id in the label. Throws `resource_not_found` if there is none. */
  document(docId: string, label: string, options?: FessCallOptions): Promise<FessDocument>;
  /** Reads the HTML that Fess stored. Null if it is missing. */
  cachedPage(document: FessDocument, options?: FessContentOptions): Promise<string | null>;
  /** Returns the bytes of a file, the URL of a web document, or null if Fess returns neither. */
  original(document: FessDocument, options?: FessContentOptions): Promise<FessOriginal | null>;
}

export type FessApiVersion = 'v1' | 'v2';

export interface FessCallOptions {
  /** Closes the connection to Fess when it aborts. */
  signal?: AbortSignal;
}

export interface FessContentOptions extends FessCallOptions {
  bytesMax?: number;
}

export interface FessSearchRequest {
  label: string;
  query: string;
  /** Index of the first result, from 0. */
  start?: number | undefined;
  /** Page size, 1 to 100. Default: 20. */
  num?: number | undefined;
  sort?: string | undefined;
  lang?: string | undefined;
  facets?: FessFacets | undefined;
  geo?: FessGeo | undefined;
}

export interface FessSearchAnswer {
  /** At most 10,000, the result window of the search engine. If there are more, `isTotalExact` is false. */
  total: number;
  isTotalExact: boolean;
  start: number;
  /** The requested page size. A page may have fewer results. */
  num: number;
  /** Start of the next page. Undefined at the end of the results or of the result window. */
  nextStart: number | undefined;
  hits: FessHit[];
  facets: FessFacetCounts | undefined;
  relatedQueries: string[];
  /** True if some shards of the index did not answer. */
  isPartial: boolean;
  /** False if there are no hits and Fess does not report whether its search engine is up. */
  isOutageRuledOut: boolean;
  execTimeMs: number;
}

export interface FessHit {
  docId: string;
  title: string;
  url: string;
  digest: string;
  /** Undefined if the results are not sorted by score. */
  score: number | undefined;
  /** The indexed text, if Fess is configured to return it. */
  content: string | undefined;
  /** Other fields under Fess's names. HTML is converted to plain text, and numbers in strings to numbers. */
  fields: Record<string, unknown>;
}

export interface FessFacetCounts {
  fields: { name: string; values: FessFacetCount[] }[];
  queries: FessFacetCount[];
}

interface FessFacetCount {
  value: string;
  count: number;
}

/** A hit that `document()` found in its label. Requests to `/go` need the id and time of that search. */
export interface FessDocument extends FessHit {
  label: string;
  queryId: string;
  requestedTime: number;
}

export interface FessSuggestRequest {
  label: string;
  prefix: string;
  num?: number;
  fields?: readonly string[];
  lang?: string;
}

export interface FessSuggestion {
  text: string;
  labels: string[];
}

export interface FessPopularWordsRequest {
  label: string;
  seed?: number;
  field?: string;
}

export interface FessLabel {
  label: string;
  value: string;
}

export interface FessHealth {
  status: 'green' | 'yellow' | 'red';
  timedOut: boolean;
}

export type FessOriginal =
  | { kind: 'bytes'; bytes: Uint8Array; contentType: string }
  /** A URL to fetch. Only the safe fetcher decides whether it may be read. */
  | { kind: 'address'; url: string };
