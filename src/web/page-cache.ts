import { freshnessMs, isStorable } from './cache-rules.ts';
import { isHeaderValue } from './exchange.ts';
import { urlCharactersMax } from './fetch-policy.ts';
import type { FetchRequest, FetchResponse, SafeFetch, Validators } from './safe-fetch.ts';

export interface PageCacheConfig {
  /** Of all bodies together. A page that would take more than a quarter of this is not kept. */
  bytesMax: number;
  entriesMax: number;
}

export interface PageCacheDeps {
  safeFetch: SafeFetch;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * A safe fetch that remembers pages as a shared HTTP cache does (RFC 9111): a fresh page is served without asking, a
 * stale one is revalidated. What is kept passed the rules of the fetch that it wraps, so
 * a cache must never be shared between fetchers with different rules; it has no way to be.
 *
 * Pages are kept under the URL that answered. A redirect is never remembered: it may lead elsewhere the next time.
 */
export function createPageCache(config: PageCacheConfig, { safeFetch, now = Date.now }: PageCacheDeps): SafeFetch {
  // In order of use, the least recently used first.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  return async (url, request = {}) => {
    if ((request.method ?? 'GET') !== 'GET' || request.validatorsFor !== undefined)
      return await safeFetch(url, request);
    const entry = entries.get(keyOf(canonicalUrl(url), request));
    if (entry !== undefined && now() < entry.freshUntilMs) return serve(entry, request, []);
    return await fetchAndKeep(url, request);
  };

  async function fetchAndKeep(url: string, request: FetchRequest): Promise<FetchResponse> {
    // Held for the length of this call: the entry that a 304 refers to may be evicted while we wait for it.
    const offered = new Map<string, Entry>();
    const validatorsFor = (hop: string): Validators | undefined => {
      const entry = entries.get(keyOf(hop, request));
      if (entry === undefined) return undefined;
      offered.set(hop, entry);
      return entry.validators;
    };
    const inspectHead: FetchRequest['inspectHead'] = (head) => {
      if (head.status !== 304) request.inspectHead?.(head);
    };
    const response = await safeFetch(url, { ...request, validatorsFor, inspectHead });
    const known = response.status === 304 ? offered.get(response.url) : undefined;
    if (known !== undefined) return serve(refreshed(known, response, request), request, response.redirects);
    keep(response, request);
    return response;
  }

  function serve(entry: Entry, request: FetchRequest, redirects: readonly string[]): FetchResponse {
    const { status, url, headers, contentType } = entry.response;
    const isDowngraded = url.startsWith('http:') && redirects.some((one) => one.startsWith('https:'));
    const head = { status, url, headers, contentType, redirects, isDowngraded };
    request.inspectHead?.(head);
    if (entries.get(entry.key) === entry) {
      entries.delete(entry.key);
      entries.set(entry.key, entry);
    }
    // A copy, because the caller may hand its body over to a worker, which empties the original.
    return { ...head, body: entry.body.slice(), fromCache: true };
  }

  /** RFC 9111, 4.3.4: a 304 brings the page's headers up to date. */
  function refreshed(entry: Entry, notModified: FetchResponse, request: FetchRequest): Entry {
    const headers = { ...entry.response.headers, ...withoutLength(notModified.headers) };
    const response = { ...entry.response, headers };
    return keep({ ...response, body: entry.body }, request) ?? { ...entry, response };
  }

  function keep(response: FetchResponse, request: FetchRequest): Entry | undefined {
    const key = keyOf(response.url, request);
    remove(key);
    const { body, ...head } = response;
    if (body.byteLength > config.bytesMax / 4 || config.entriesMax < 1 || !isStorable(response)) return undefined;
    const validators = validatorsOf(response);
    const lifetimeMs = freshnessMs(response, now());
    if (validators === undefined && lifetimeMs <= 0) return undefined;
    const entry: Entry = { key, response: head, body: body.slice(), validators, freshUntilMs: now() + lifetimeMs };
    entries.set(key, entry);
    bytes += body.byteLength;
    for (const oldest of entries.keys()) {
      if (bytes <= config.bytesMax && entries.size <= config.entriesMax) break;
      remove(oldest);
    }
    return entry;
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= entry.body.byteLength;
  }
}

interface Entry {
  key: string;
  response: Omit<FetchResponse, 'body'>;
  body: Uint8Array<ArrayBuffer>;
  validators: Validators | undefined;
  freshUntilMs: number;
}

/** The URL and everything in a request that can change the answer: what a site may vary by, and how much may be read. */
function keyOf(url: string, { accept, acceptLanguage, bytesMax }: FetchRequest): string {
  return [url, accept, acceptLanguage, bytesMax].join('\n');
}

/** As the fetcher writes the URL that answered. Text that is not a URL is in no cache, and the fetcher will say so. */
function canonicalUrl(text: string): string {
  const url = text.length > urlCharactersMax ? null : URL.parse(text);
  if (url === null) return text;
  url.hash = '';
  return url.href;
}

function validatorsOf({ headers }: FetchResponse): Validators | undefined {
  const { etag, 'last-modified': lastModified } = headers;
  const validators: Validators = {
    ...(etag !== undefined && isHeaderValue(etag) ? { etag } : {}),
    ...(lastModified !== undefined && isHeaderValue(lastModified) ? { lastModified } : {}),
  };
  return Object.keys(validators).length === 0 ? undefined : validators;
}

function withoutLength(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { 'content-length': _length, ...rest } = headers;
  return rest;
}
