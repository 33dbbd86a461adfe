import { isHeaderValue } from './exchange.ts';
import { urlCharactersMax } from './fetch-policy.ts';
import type { FetchHead, FetchRequest, FetchResponse, SafeFetch, Validators } from './safe-fetch.ts';

export interface PageCacheConfig {
  /** Max bytes of all bodies. A page larger than a quarter of this is not stored. */
  bytesMax: number;
  entriesMax: number;
}

export interface PageCacheDeps {
  safeFetch: SafeFetch;
  /** Returns milliseconds since 1970. */
  now?: () => number;
}

/**
 * Adds a shared HTTP cache (RFC 9111) to a safe fetch. Fresh pages are served from the cache, stale ones are revalidated. Each
 * fetcher needs its own cache, because stored pages have passed the rules of that fetcher only.
 *
 * Pages are stored under the URL that returned them, after redirects. Redirects are never stored.
 */
export function createPageCache(config: PageCacheConfig, { safeFetch, now = Date.now }: PageCacheDeps): SafeFetch {
  // Least recently used first.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  return async (url, request = {}) => {
    if ((request.method ?? 'GET') !== 'GET' || request.validatorsFor !== undefined)
      return await safeFetch(url, request);
    const entry = entries.get(keyOf(canonicalUrl(url), request));
    if (entry !== undefined && now() < entry.freshUntilMs) return serve(entry, request, []);
    return await fetchAndCache(url, request);
  };

  async function fetchAndCache(url: string, request: FetchRequest): Promise<FetchResponse> {
    // Holds the entries whose validators were sent, in case they are evicted before a 304 arrives.
    const revalidating = new Map<string, Entry>();
    const validatorsFor = (hop: string): Validators | undefined => {
      const entry = entries.get(keyOf(hop, request));
      if (entry === undefined) return undefined;
      revalidating.set(hop, entry);
      return entry.validators;
    };
    const inspectHead: FetchRequest['inspectHead'] = (head) => {
      if (head.status !== 304) request.inspectHead?.(head);
    };
    const response = await safeFetch(url, { ...request, validatorsFor, inspectHead });
    const revalidated = response.status === 304 ? revalidating.get(response.url) : undefined;
    if (revalidated !== undefined) return serve(refresh(revalidated, response, request), request, response.redirects);
    store(response, request);
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
    // A copy: the caller may transfer its body to a worker, which empties the original.
    return { ...head, body: entry.body.slice(), fromCache: true };
  }

  /** Updates a stored page with the headers of a 304 (RFC 9111, 4.3.4). */
  function refresh(entry: Entry, notModified: FetchResponse, request: FetchRequest): Entry {
    const headers = { ...entry.response.headers, ...withoutLength(notModified.headers) };
    const response = { ...entry.response, headers };
    return store({ ...response, body: entry.body }, request) ?? { ...entry, response };
  }

  function store(response: FetchResponse, request: FetchRequest): Entry | undefined {
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

/** Returns the key of an entry: the URL and all parts of a request that can change the answer. */
function keyOf(url: string, { accept, acceptLanguage, bytesMax }: FetchRequest): string {
  return [url, accept, acceptLanguage, bytesMax].join('\n');
}

/** Returns the URL as the fetcher writes it. Leaves invalid URLs unchanged: the fetcher rejects them, so none is cached. */
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

/**
 * True if a shared cache may store the answer (RFC 9111, 3). Only status 200 is stored. Answers marked `private` are not,
 * although requests have no credentials, because one cache serves all clients.
 */
export function isStorable({ status, headers }: FetchHead): boolean {
  const directives = cacheDirectives(headers);
  const varies = (headers['vary'] ?? '').includes('*');
  return status === 200 && !varies && !directives.has('no-store') && !directives.has('private');
}

/**
 * Returns how long the answer may be served without a request. 0 means to revalidate it each time. Does not estimate the time
 * from Last-Modified, because revalidation is cheap and never wrong.
 */
function freshnessMs({ headers }: FetchHead, nowMs: number): number {
  const directives = cacheDirectives(headers);
  if (directives.has('no-cache')) return 0;
  const ageMs = 1000 * (seconds(headers['age']) ?? 0);
  const lifetimeSeconds = seconds(directives.get('s-maxage')) ?? seconds(directives.get('max-age'));
  const lifetimeMs = lifetimeSeconds === undefined ? untilExpiryMs(headers, nowMs) : 1000 * lifetimeSeconds;
  return Math.max(0, Math.min(lifetimeMs, lifetimeMaxMs) - ageMs);
}

/** Max time without revalidation: a day. Longer times are meant for files whose names change with their content. */
const lifetimeMaxMs = 24 * 3600 * 1000;

function untilExpiryMs(headers: FetchHead['headers'], nowMs: number): number {
  const expiresMs = Date.parse(headers['expires'] ?? '');
  const sentMs = Date.parse(headers['date'] ?? '');
  // An invalid Expires ("0", "-1") means already expired (RFC 9111, 5.3).
  if (Number.isNaN(expiresMs)) return 0;
  return expiresMs - (Number.isNaN(sentMs) ? nowMs : sentMs);
}

/** Parses Cache-Control. Names are in lower case, values without quotes. If a directive repeats, the first counts. */
function cacheDirectives(headers: FetchHead['headers']): Map<string, string> {
  const directives = new Map<string, string>();
  for (const part of (headers['cache-control'] ?? '').split(',')) {
    const [name = '', value = ''] = part.split('=', 2).map((text) => text.trim());
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, value.replace(/^"|"$/g, ''));
  }
  return directives;
}

function seconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
