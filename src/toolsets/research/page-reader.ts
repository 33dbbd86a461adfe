import { CarrelError, type ErrorCode, isCarrelError } from '../../base/errors.ts';
import type { ExtractedDocument, ExtractMode } from '../../documents/document.ts';
import type { Extractor } from '../../documents/extractor.ts';
import type { FetchHead, SafeFetch } from '../../web/safe-fetch.ts';

export interface Page {
  /** The page's URL after redirects. */
  url: string;
  title: string;
  text: string;
  /** True if the page was truncated at a limit. */
  isTruncated: boolean;
  language: string | null;
  published: string | null;
}

interface PageRequest {
  url: string;
  mode: ExtractMode;
  /** Accepts the text of a recent read, so that the parts of a page come from the same version. */
  allowCached: boolean;
  signal: AbortSignal;
}

export interface PageReader {
  read(request: PageRequest): Promise<Page>;
}

interface PageReaderDeps {
  fetch: SafeFetch;
  extractor: Extractor;
  /** A monotonic clock, in milliseconds. */
  clock?: () => number;
}

const pageTypes = 'text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf;q=0.9,*/*;q=0.5';

/**
 * Creates a reader that fetches pages safely and converts them to text. Its errors have the codes of the research
 * server's specification.
 */
export function createPageReader({ fetch, extractor, clock = () => performance.now() }: PageReaderDeps): PageReader {
  const recent = createRecentPages(clock);
  return {
    async read({ url, mode, allowCached, signal }) {
      const key = `${mode} ${url}`;
      const cached = allowCached ? recent.find(key) : undefined;
      if (cached) return cached;
      try {
        const response = await fetch(url, { signal, accept: pageTypes, inspectHead: checkHead });
        const { body: bytes, contentType } = response;
        const source = { bytes, url: response.url, mode, ...(contentType === undefined ? {} : { contentType }) };
        const page = pageOf(await extractor.extract(source, { signal }), response.url);
        recent.add(key, page);
        return page;
      } catch (error) {
        throw isCarrelError(error) ? asFetchError(error) : error;
      }
    },
  };
}

function pageOf(document: ExtractedDocument, url: string): Page {
  const { title, text, truncated, language, published } = document;
  return {
    url,
    title: title ?? new URL(url).hostname,
    text,
    isTruncated: truncated !== undefined,
    language,
    published,
  };
}

/** Rejects useless downloads by status and content type, before the body is read. */
function checkHead({ status, url, contentType = '' }: FetchHead): void {
  const host = new URL(url).hostname;
  if (status < 200 || status > 299) {
    const problem =
      statusProblems[status] ??
      (status >= 500 ? 'the site has a problem; try again later' : 'the page is not available');
    throw new CarrelError('fetch_failed', `${host} answered with status ${status}: ${problem}.`, {
      data: { host, status },
    });
  }
  if (/^\s*(audio|font|image|video)\//i.test(contentType)) {
    throw new CarrelError('unsupported_content_type', `${host} answered with media instead of a text page.`);
  }
}

const statusProblems: Record<number, string> = {
  401: 'the page needs a login',
  403: 'the site denies access to the page',
  404: 'the page does not exist',
  410: 'the page is gone',
  429: 'the site is rate limiting; try again later',
};

const urlRejections: readonly ErrorCode[] = [
  'invalid_url',
  'credentials_in_url',
  'scheme_not_allowed',
  'host_not_allowed',
  'port_not_allowed',
  'private_network_blocked',
];
/** Codes of errors that are not about the page. They stay unchanged. */
const unrelatedCodes: readonly ErrorCode[] = ['cancelled', 'too_many_in_flight'];

/** Replaces an error's code with the specification's code. `details.reason` has the original one. */
function asFetchError(error: CarrelError): CarrelError {
  if (unrelatedCodes.includes(error.code)) return error;
  const code = fetchCode(error.code);
  const reason = error.code === code ? {} : { reason: error.code };
  return new CarrelError(code, error.message, { cause: error, data: { details: { ...reason, ...error.data } } });
}

function fetchCode(code: ErrorCode): ErrorCode {
  if (code === 'fetch_timeout') return code;
  return urlRejections.includes(code) ? 'fetch_invalid_url' : 'fetch_failed';
}

const recentMs = 5 * 60_000;
const recentPagesMax = 32;
const recentCharsMax = 8_000_000;

/** Caches the text of recent pages. */
function createRecentPages(clock: () => number) {
  const pages = new Map<string, { page: Page; until: number }>();
  let chars = 0;
  const remove = (key: string): void => {
    chars -= pages.get(key)?.page.text.length ?? 0;
    pages.delete(key);
  };
  return {
    find(key: string): Page | undefined {
      const entry = pages.get(key);
      return entry !== undefined && clock() < entry.until ? entry.page : undefined;
    },
    add(key: string, page: Page): void {
      remove(key);
      pages.set(key, { page, until: clock() + recentMs });
      chars += page.text.length;
      for (const oldest of pages.keys()) {
        if (pages.size <= recentPagesMax && chars <= recentCharsMax) break;
        remove(oldest);
      }
    },
  };
}
