import { lookup as dnsLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import { type Address, parseAddress } from './address-rules.ts';
import { connect } from './connect.ts';
import { withDeadline } from './deadline.ts';
import { checkHeaderValue, exchange, type FetchMethod, pageHeaders, type RequestHeaders } from './exchange.ts';
import { fetchFailure } from './fetch-failure.ts';
import { type CheckedUrl, checkAddresses, checkUrl, type FetchPolicy } from './fetch-policy.ts';
import { readBody } from './response-body.ts';

export interface SafeFetchConfig extends FetchPolicy {
  userAgent?: string;
  acceptLanguage?: string;
  /** Max bytes of an answer, compressed and decompressed. A call may override it. */
  bytesMax?: number;
  /** Timeout from the name lookup to the last byte, redirects included. A call may override it. */
  timeoutMs?: number;
  redirectsMax?: number;
}

export interface SafeFetchDeps {
  /** Resolves a name to all its addresses, in the system's order. */
  lookup?: (host: string) => Promise<readonly { address: string }[]>;
}

export interface FetchRequest {
  signal?: AbortSignal;
  method?: FetchMethod;
  accept?: string;
  acceptLanguage?: string;
  bytesMax?: number;
  timeoutMs?: number;
  /** Returns the validators of a URL, if known. Called again for every redirect, because validators belong to one URL. */
  validatorsFor?: (url: string) => Validators | undefined;
  /** Called with an allowed redirect target; may throw to stop there. */
  beforeRedirect?: (url: string) => void | Promise<void>;
  /** Called before the body is read; may throw to skip it. */
  inspectHead?: (head: FetchHead) => void;
}

export interface Validators {
  etag?: string;
  lastModified?: string;
}

export interface FetchHead {
  status: number;
  /** The final URL, without fragment. */
  url: string;
  /** The headers that describe the page, with names in lower case. Untrusted text. */
  headers: Readonly<Record<string, string>>;
  /** As received, with its parameters. Untrusted text. */
  contentType: string | undefined;
  /** The URLs that redirected, in order. */
  redirects: readonly string[];
  /** True if an https URL redirected to plain http. */
  isDowngraded: boolean;
}

export interface FetchResponse extends FetchHead {
  /** Decompressed; empty for HEAD. Owned by the caller, so it can be transferred to a worker. */
  body: Uint8Array<ArrayBuffer>;
  fromCache: boolean;
}

/** Fetches a URL. Resolves with any answer, also with status 400 and above. Rejects only with a CarrelError. */
export type SafeFetch = (url: string, request?: FetchRequest) => Promise<FetchResponse>;

/**
 * Creates the fetcher for every URL that comes from a page, document, redirect or caller. It parses and checks the URL, resolves
 * its host once, checks every address, and connects only to a checked address. Redirects go through the same steps.
 */
export function createSafeFetch(config: SafeFetchConfig, deps: SafeFetchDeps = {}): SafeFetch {
  const { timeoutMs = 15_000, bytesMax = 5 * 1024 * 1024, redirectsMax = 5 } = config;
  const lookup = deps.lookup ?? ((host: string) => dnsLookup(host, { all: true, verbatim: true }));
  const defaultHeaders = {
    'user-agent': checkHeaderValue('The user agent', config.userAgent ?? 'Carrel', 'invalid_config'),
    'accept-language': checkHeaderValue('Accept-Language', config.acceptLanguage ?? 'en, *;q=0.5', 'invalid_config'),
  };

  return async (url, request = {}) => {
    const first = checkUrl(url, config);
    const deadline = { timeoutMs: request.timeoutMs ?? timeoutMs, host: first.host };
    return await withDeadline(deadline, request.signal, (signal) => follow(first, request, signal));
  };

  async function follow(first: CheckedUrl, request: FetchRequest, signal: AbortSignal): Promise<FetchResponse> {
    const redirects: string[] = [];
    let target = first;
    for (;;) {
      const answer = await afterRedirect(redirects, () => send(target, redirects, request, signal));
      if (typeof answer !== 'string') return answer;
      redirects.push(target.url.href);
      if (redirects.length > redirectsMax) throw tooManyRedirects(first.host, redirectsMax);
      const base = target.url;
      target = await afterRedirect(redirects, () => checkUrl(answer, config, base));
      await request.beforeRedirect?.(target.url.href);
    }
  }

  /** Sends one request. Returns the answer, or the target of its redirect. */
  async function send(
    target: CheckedUrl,
    redirects: readonly string[],
    request: FetchRequest,
    signal: AbortSignal,
  ): Promise<FetchResponse | string> {
    const addresses = await resolve(target, signal);
    checkAddresses(target, addresses, config);
    const { url, host, port, scheme } = target;
    const endpoint = { addresses, port, ...(scheme === 'https' ? { tlsHost: host } : {}) };
    const method = request.method ?? 'GET';
    const headers = requestHeaders(url, request);
    let close = (): void => {};
    try {
      const socket = await connect(endpoint, signal);
      close = () => socket.destroy();
      const response = await exchange(socket, { method, path: url.pathname + url.search, headers }, signal);
      const location = redirectLocation(response);
      if (location !== undefined) return location;
      const head = headOf(response, url, redirects);
      request.inspectHead?.(head);
      const body = method === 'HEAD' ? new Uint8Array() : await readBody(response, request.bytesMax ?? bytesMax);
      return { ...head, body, fromCache: false };
    } catch (error) {
      throw fetchFailure(error, host);
    } finally {
      close();
    }
  }

  async function resolve({ host, address }: CheckedUrl, signal: AbortSignal): Promise<Address[]> {
    if (address !== undefined) return [address];
    // getaddrinfo cannot be cancelled. After the timeout, its result is ignored.
    const records = await untilAborted(lookup(host), signal).catch((error: unknown) => {
      throw fetchFailure(error, host);
    });
    const addresses = records.map((record) => parseAddress(record.address)).filter((address) => address !== undefined);
    // Fails if any address can't be parsed, such as one with a zone id, because it can't be checked.
    if (addresses.length === 0 || addresses.length < records.length) {
      throw fetchFailure(Object.assign(new Error('no usable address'), { code: 'ENOTFOUND' }), host);
    }
    return addresses;
  }

  function requestHeaders(url: URL, request: FetchRequest): RequestHeaders {
    const { etag, lastModified } = request.validatorsFor?.(url.href) ?? {};
    return {
      host: url.host,
      ...defaultHeaders,
      ...(request.acceptLanguage === undefined
        ? {}
        : { 'accept-language': checkHeaderValue('Accept-Language', request.acceptLanguage) }),
      accept: checkHeaderValue('The accepted type', request.accept ?? '*/*'),
      'accept-encoding': 'gzip, br, deflate',
      ...(etag === undefined ? {} : { 'if-none-match': checkHeaderValue('The entity tag', etag) }),
      ...(lastModified === undefined ? {} : { 'if-modified-since': checkHeaderValue('The date', lastModified) }),
    };
  }
}

function headOf(response: IncomingMessage, url: URL, redirects: readonly string[]): FetchHead {
  const headers = pageHeaders(response.headers);
  return {
    status: response.statusCode ?? 0,
    url: url.href,
    headers,
    contentType: headers['content-type'],
    redirects: [...redirects],
    isDowngraded: url.protocol === 'http:' && redirects.some((one) => one.startsWith('https:')),
  };
}

/** Returns the target of a redirect. Only `Location` counts; `Refresh` headers and meta elements are left to the caller. */
function redirectLocation(response: IncomingMessage): string | undefined {
  const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0);
  const location = response.headers.location;
  // Node decodes headers as Latin-1, but servers that send non-ASCII characters mean UTF-8.
  return isRedirect && location !== undefined ? Buffer.from(location, 'latin1').toString('utf8') : undefined;
}

/** Mentions the redirect in an error, because the caller does not know the URL that was refused. */
async function afterRedirect<T>(redirects: readonly string[], step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (redirects.length === 0 || !isCarrelError(error)) throw error;
    if (error.code === 'invalid_url') throw fetchFailure(error, new URL(redirects.at(-1) ?? '').hostname);
    if (error.kind !== 'forbidden' && error.code !== 'credentials_in_url') throw error;
    const message = `The site redirects to an address that is refused. ${error.message}`;
    throw new CarrelError(error.code, message, { cause: error, data: error.data });
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
    work.then(resolve, reject);
  });
}

function tooManyRedirects(host: string, redirectsMax: number): CarrelError {
  const message = `${host} redirects more than ${redirectsMax} times. Fetch the final address instead.`;
  return new CarrelError('too_many_redirects', message, { data: { host, redirectsMax } });
}
