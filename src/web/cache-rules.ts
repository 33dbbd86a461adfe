import type { FetchHead } from './safe-fetch.ts';

/**
 * Whether a shared cache may keep the answer (RFC 9111, 3). Only plain successes are worth it; `private` is respected
 * although we send no credentials, since one cache serves every client of this server.
 */
export function isStorable({ status, headers }: FetchHead): boolean {
  const directives = cacheDirectives(headers);
  const varies = (headers['vary'] ?? '').includes('*');
  return status === 200 && !varies && !directives.has('no-store') && !directives.has('private');
}

/**
 * How long the answer may be served without asking again; 0 if it must be asked for each time. There is no guess from
 * Last-Modified: where a site says nothing, asking with validators costs little and is never wrong.
 */
export function freshnessMs({ headers }: FetchHead, nowMs: number): number {
  const directives = cacheDirectives(headers);
  if (directives.has('no-cache')) return 0;
  const ageMs = 1000 * (seconds(headers['age']) ?? 0);
  const lifetimeSeconds = seconds(directives.get('s-maxage')) ?? seconds(directives.get('max-age'));
  const lifetimeMs = lifetimeSeconds === undefined ? untilExpiryMs(headers, nowMs) : 1000 * lifetimeSeconds;
  return Math.max(0, Math.min(lifetimeMs, lifetimeMaxMs) - ageMs);
}

/** A site that says "a year" means files whose name changes with their content; a page should be checked every day. */
const lifetimeMaxMs = 24 * 3600 * 1000;

function untilExpiryMs(headers: FetchHead['headers'], nowMs: number): number {
  const expiresMs = Date.parse(headers['expires'] ?? '');
  const sentMs = Date.parse(headers['date'] ?? '');
  // An Expires that is not a date ("0", "-1") means already expired (RFC 9111, 5.3).
  return Number.isNaN(expiresMs) ? 0 : expiresMs - (Number.isNaN(sentMs) ? nowMs : sentMs);
}

/** Names in lower case; values without quotes. Where a directive is repeated, the first counts. */
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
