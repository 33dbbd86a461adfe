import type { FessContentOptions, FessDocument, FessOriginal } from './fess-api.ts';
import type { FessClient } from './fess-client.ts';
import type { FessDialect } from './fess-dialect.ts';
import { fessError, isRecord } from './fess-errors.ts';
import { jsonObject, statusError } from './fess-response.ts';

/** The crawled HTML without the banner that Fess puts above it. Null if there is none, or if we may not see it. */
export async function readCachedPage(
  client: FessClient,
  dialect: FessDialect,
  { docId }: FessDocument,
  options?: FessContentOptions,
): Promise<string | null> {
  const page = dialect.version === 'v1' ? await cacheV1(client, docId, options) : await cacheV2(client, docId, options);
  const html = page === null ? '' : withoutBanner(page);
  return html === '' ? null : html;
}

/** A web document redirects to its address, a file is streamed; a redirect within Fess is its error page. */
export async function readOriginal(
  client: FessClient,
  { docId, queryId, requestedTime, url }: FessDocument,
  options?: FessContentOptions,
): Promise<FessOriginal | null> {
  const params = new URLSearchParams({ docId, queryId, rt: String(requestedTime) });
  const response = await client.get('/go/', params, options);
  if (isRedirect(response.status)) {
    return response.location === url ? { kind: 'address', url } : null;
  }
  if (response.status === 404) return null;
  if (response.status !== 200) throw statusError(response);
  return { kind: 'bytes', bytes: response.body, contentType: response.contentType };
}

async function cacheV1(client: FessClient, docId: string, options?: FessContentOptions): Promise<string | null> {
  const response = await client.get('/cache/', new URLSearchParams({ docId }), options);
  // Unknown and forbidden ids are redirects too.
  if (isRedirect(response.status) || response.status === 404) return null;
  if (response.status !== 200) throw statusError(response);
  return response.body.toString('utf8');
}

async function cacheV2(client: FessClient, docId: string, options?: FessContentOptions): Promise<string | null> {
  const endpoint = `/api/v2/cache/${docId}`;
  const response = await client.get(endpoint, new URLSearchParams(), options);
  if (response.status === 404) return null;
  const { response: inner } = jsonObject(response);
  if (isRecord(inner) && typeof inner['content'] === 'string') return inner['content'];
  throw fessError('unexpected_shape', { endpoint, httpStatus: response.status });
}

/** The banner is a head with a base address and a box within a box; the page follows the second closing tag. */
function withoutBanner(page: string): string {
  const banner = /^\s*<!DOCTYPE html>\s*<meta[^>]*>\s*<base[^>]*>\s*<div[^>]*>\s*<div[^>]*>[\s\S]*?<\/div>\s*<\/div>/i;
  return page.replace(banner, '').trim();
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
