import { isCarrelError } from '../base/errors.ts';
import { readRobots as readDirectives } from '../documents/links/html-links.ts';
import type { FetchHead, FetchResponse, SafeFetch, Validators } from '../web/safe-fetch.ts';

/** The outcome of one request. Redirects are not followed: their target is a separate page. */
export type Fetched =
  | { readonly outcome: 'page'; response: FetchResponse; noindex: boolean; nofollow: boolean }
  | { readonly outcome: 'unchanged' | 'gone' }
  | { readonly outcome: 'moved'; readonly url: string }
  | { readonly outcome: 'skipped' | 'failed'; readonly reason: string }
  /** May succeed later. `hostWaitMs` is the pause that the host asks for. */
  | { readonly outcome: 'later'; readonly reason: string; readonly hostWaitMs: number };

const pageTypes = 'text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf;q=0.9,*/*;q=0.5';
const retryAfterMaxMs = 3_600_000;

/** Thrown to end a fetch after the response headers, without reading the body. */
class Ended extends Error {
  readonly fetched: Fetched;
  constructor(fetched: Fetched) {
    super(fetched.outcome);
    this.fetched = fetched;
  }
}

export async function fetchPage(
  fetch: SafeFetch,
  url: string,
  { validators, signal }: { validators: Validators; signal: AbortSignal },
): Promise<Fetched> {
  try {
    const response = await fetch(url, {
      signal,
      accept: pageTypes,
      validatorsFor: () => validators,
      inspectHead,
      beforeRedirect(target) {
        throw new Ended({ outcome: 'moved', url: target });
      },
    });
    return { outcome: 'page', response, ...readDirectives(ownDirectives(response.headers['x-robots-tag'])) };
  } catch (error) {
    if (error instanceof Ended) return error.fetched;
    signal.throwIfAborted();
    if (!isCarrelError(error)) throw error;
    if (error.code === 'fetch_timeout' || error.code === 'fetch_failed') {
      const { reason } = error.data;
      return { outcome: 'later', reason: typeof reason === 'string' ? reason : error.code, hostWaitMs: 0 };
    }
    return { outcome: 'failed', reason: error.code };
  }
}

function inspectHead({ status, headers, contentType = '' }: FetchHead): void {
  if (status === 304) throw new Ended({ outcome: 'unchanged' });
  if (status === 404 || status === 410) throw new Ended({ outcome: 'gone' });
  const reason = `status ${status}`;
  if (status === 429 || status >= 500) {
    throw new Ended({ outcome: 'later', reason, hostWaitMs: retryAfterMs(headers['retry-after']) });
  }
  if (status < 200 || status > 299) throw new Ended({ outcome: 'failed', reason });
  if (/^\s*(audio|font|image|video)\//i.test(contentType)) {
    throw new Ended({ outcome: 'skipped', reason: 'unsupported_content_type' });
  }
}

/** Parses a Retry-After header: seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMs(value = ''): number {
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(retryAfterMaxMs, Math.max(0, ms));
}

/** Removes directives for other robots, such as `otherbot: noindex`, from an X-Robots-Tag header. */
function ownDirectives(header = ''): string {
  return header
    .split(',')
    .filter((part) => !/^\s*(?!carrel\s*:)[\w-]+\s*:/i.test(part))
    .join(',');
}
