import { parseBoundedJson } from '../../../base/bounded-json.ts';
import { isObject } from '../../../base/json.ts';
import { ProviderFailure } from './search-provider.ts';

export interface ProviderRequest {
  url: URL;
  method?: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  bytesMax: number;
  signal: AbortSignal;
}

export interface ProviderAnswer {
  /** Lower-case, without parameters. */
  contentType: string;
  text: string;
}

/**
 * Queries a search provider at the operator's URL, which may be in a private network. Redirects are not followed,
 * because they could leak the key. Throws a `ProviderFailure` unless a successful answer of at most `bytesMax`
 * arrives in time.
 */
export async function askProvider(request: ProviderRequest): Promise<ProviderAnswer> {
  const { url, method = 'GET', headers, body, timeoutMs, signal } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body }),
    });
    try {
      checkStatus(response);
      return { contentType: mediaType(response), text: await readText(response, request.bytesMax) };
    } finally {
      // An unread body would keep its connection open.
      await response.body?.cancel().catch(() => {});
    }
  } catch (error) {
    if (error instanceof ProviderFailure || signal.aborted) throw error;
    if (timeout.aborted) throw new ProviderFailure('timeout', `no answer in ${timeoutMs} ms`, { cause: error });
    throw new ProviderFailure('failed', 'no connection, or the answer was cut off', { cause: error });
  }
}

/** Parses a JSON answer. Throws if it is anything else, such as the error page of a gateway. */
export function parseJsonAnswer({ text }: ProviderAnswer): Record<string, unknown> {
  const parsed = parseBoundedJson(text);
  if (parsed === undefined) throw new ProviderFailure('failed', 'the answer is not JSON');
  if (isObject(parsed)) return parsed;
  throw new ProviderFailure('failed', 'the answer is not a JSON object');
}

/** Returns the objects in a list. Everything else is dropped. */
export function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Parses the operator's URL. If it has no path, it gets the provider's usual one. */
export function providerUrl(address: string, usualPath: string): URL {
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = usualPath;
  return url;
}

/**
 * Statuses that mean that the provider blocks the search. DuckDuckGo answers robots with 202, others with 403 or 429.
 */
const blockedStatuses = [202, 403, 429];

function checkStatus(response: Response): void {
  const { status } = response;
  if (blockedStatuses.includes(status)) {
    const retryAfterSeconds = retryAfter(response);
    throw new ProviderFailure('blocked', `status ${status}`, {
      status,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  if (!response.ok) throw new ProviderFailure('failed', `status ${status}`, { status });
}

function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(value) ? Number(value) : undefined;
}

function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  // Bytes are counted after decompression, so that decompression bombs are stopped too.
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > bytesMax) throw new ProviderFailure('failed', `the answer exceeds ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
