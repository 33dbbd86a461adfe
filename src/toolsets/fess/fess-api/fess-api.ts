import type { FessFacets, FessGeo } from '../parameter-guard.ts';

/**
 * What the toolset asks of a Fess server, whichever API generation it serves. Every method that touches documents takes
 * the label of the domain and guards its input itself, so no caller can forget to. All methods throw `CarrelError`:
 * `fess_error`, `fess_unreachable`, `fess_timeout`, `cancelled`, `invalid_arguments`, `resource_not_found`.
 */
export interface FessApi {
  search(request: FessSearchRequest, options?: FessCallOptions): Promise<FessSearchAnswer>;
  suggest(request: FessSuggestRequest, options?: FessCallOptions): Promise<FessSuggestion[]>;
  popularWords(request: FessPopularWordsRequest, options?: FessCallOptions): Promise<string[]>;
  /** All labels that the server shows us, whatever the domain. */
  labels(options?: FessCallOptions): Promise<FessLabel[]>;
  /** `red` is an answer; a server whose engine does not answer at all is a `fess_error`. */
  health(options?: FessCallOptions): Promise<FessHealth>;
  /** The document with this id within the label, else `resource_not_found`. */
  document(docId: string, label: string, options?: FessCallOptions): Promise<FessDocument>;
  /** The crawled HTML that Fess keeps; null if it has none. */
  cachedPage(document: FessDocument, options?: FessContentOptions): Promise<string | null>;
  /** What Fess streams for a document of a file system; the address for one of the web; null if it gives neither. */
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
  /** At most 10,000, the engine's window; `isTotalExact` is false where there are more. */
  total: number;
  isTotalExact: boolean;
  start: number;
  /** What was asked for; the last page may hold fewer, and so may any page of a server that folds duplicates. */
  num: number;
  /** Where the next page begins; undefined at the end and at the end of the window. */
  nextStart: number | undefined;
  hits: FessHit[];
  facets: FessFacetCounts | undefined;
  relatedQueries: string[];
  /** Not every shard answered. */
  isPartial: boolean;
  /** False if there are no hits and the server would not say whether its engine is up. */
  isOutageRuledOut: boolean;
  execTimeMs: number;
}

export interface FessHit {
  docId: string;
  title: string;
  url: string;
  digest: string;
  /** Absent when sorted by something else. */
  score: number | undefined;
  /** The indexed text, where the operator lets Fess return it. */
  content: string | undefined;
  /** The other fields under Fess's own names; HTML has become plain text, numerals have become numbers. */
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

/** A hit that was looked up within its label; only `document()` makes them. `/go` needs to know the search. */
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
  /** Not ours to follow: the safe fetcher decides whether this address may be read. */
  | { kind: 'address'; url: string };
