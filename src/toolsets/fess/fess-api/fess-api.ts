import type { FessFacets, FessGeo } from '../parameter-guard.ts';

/**
 * The Fess functions that the toolset needs, in any API version. Methods that touch documents take the domain's label and
 * guard their input themselves. All throw `CarrelError`: `fess_error`, `fess_unreachable`, `fess_timeout`,
 * `cancelled`, `invalid_arguments`, `resource_not_found`.
 */
export interface FessApi {
  search(request: FessSearchRequest, options?: FessCallOptions): Promise<FessSearchAnswer>;
  suggest(request: FessSuggestRequest, options?: FessCallOptions): Promise<FessSuggestion[]>;
  popularWords(request: FessPopularWordsRequest, options?: FessCallOptions): Promise<string[]>;
  /** All labels visible to us, in any domain. */
  labels(options?: FessCallOptions): Promise<FessLabel[]>;
  /** Resolves even if the status is `red`. Throws `fess_error` if the search engine does not respond. */
  health(options?: FessCallOptions): Promise<FessHealth>;
  /** The document with this id in the label, else `resource_not_found`. */
  document(docId: string, label: string, options?: FessCallOptions): Promise<FessDocument>;
  /** Fess's stored HTML; null if missing. */
  cachedPage(document: FessDocument, options?: FessContentOptions): Promise<string | null>;
  /** A stream for files, the URL for web documents, null if Fess gives neither. */
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
  /** From 0. */
  start?: number | undefined;
  /** 1 to 100; 20 by default. */
  num?: number | undefined;
  sort?: string | undefined;
  lang?: string | undefined;
  facets?: FessFacets | undefined;
  geo?: FessGeo | undefined;
}

export interface FessSearchAnswer {
  /** At most 10,000, the engine's window; `isTotalExact` is false if there are more. */
  total: number;
  isTotalExact: boolean;
  start: number;
  /** The requested page size; any page may hold fewer. */
  num: number;
  /** Start of the next page; undefined at the end of results or window. */
  nextStart: number | undefined;
  hits: FessHit[];
  facets: FessFacetCounts | undefined;
  relatedQueries: string[];
  /** Not every shard answered. */
  isPartial: boolean;
  /** False if there are no hits and the server doesn't reveal whether its engine is up. */
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
  /** Other fields under Fess's names; HTML becomes plain text, numerals become numbers. */
  fields: Record<string, unknown>;
}

export interface FessFacetCounts {
  fields: { name: string; values: FessFacetCount[] }[];
  queries: FessFacetCount[];
}

export interface FessFacetCount {
  value: string;
  count: number;
}

/** A hit that `document()` found within its label. Fess needs the id and time of that search for `/go`. */
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
  /** Only the safe fetcher decides whether this URL may be read. */
  | { kind: 'address'; url: string };
