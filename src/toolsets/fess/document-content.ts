import { createHash } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import { textHash } from '../../base/text-hash.ts';
import type { Extractor } from '../../documents/extractor.ts';
import type { FetchHead, SafeFetch } from '../../web/safe-fetch.ts';
import { explainRefusal, isPdf, pdfDisabled, plainText } from './content-rules.ts';
import type { FessApi, FessDocument } from './fess-api/fess-api.ts';
import { faultOf } from './fess-api/fess-errors.ts';
import type { FessSettings } from './fess-config.ts';
import type { Phases } from './phases.ts';

/** A document's whole text. */
export interface DocumentText {
  text: string;
  /** SHA-256 of the UTF-8 text, in hex. */
  hash: string;
  source: 'index' | 'fess' | 'url';
  /** True if the text was truncated. */
  isTruncated: boolean;
}

export interface DocumentContent {
  read(document: FessDocument, phases: Phases, signal: AbortSignal): Promise<DocumentText>;
  /** Returns the text's hash if it needs no fetch: the index has the full text, or the text was read before. */
  knownHash(document: FessDocument): string | undefined;
}

interface DocumentContentDeps {
  api: FessApi;
  fetch: SafeFetch;
  extractor: Extractor;
}

const hashesMax = 2_000;
const conversionsMax = 8;

/**
 * Reads a document's text from the first of these sources that has it:
 *
 * 1. the index, if its text is longer than a digest can be;
 * 2. Fess's own copy, if enabled (`viaFess`);
 * 3. the document's URL, through the safe fetcher, under the rules of `contentFetch`;
 * 4. the index again, if it has a short text that is not a digest.
 *
 * Texts are not cached, so that changes are noticed. Only the conversion of identical bytes is reused.
 */
export function createDocumentContent(settings: FessSettings, deps: DocumentContentDeps): DocumentContent {
  const { contentFetch } = settings;
  const hashes = new BoundedMap<string, string>(hashesMax);
  const converted = new BoundedMap<string, Omit<DocumentText, 'hash' | 'source'>>(conversionsMax);

  const acquire = async (document: FessDocument, phases: Phases, signal: AbortSignal) => {
    const indexed = fullIndexText(document) ?? (contentFetch.enabled ? undefined : anyIndexText(document));
    if (indexed !== undefined) return { text: indexed, isTruncated: false, source: 'index' as const };
    if (!contentFetch.enabled) throw fetchDisabled();
    const body = indexedBody(document);
    const fallback = body === undefined ? undefined : { text: body, isTruncated: false, source: 'index' as const };
    try {
      const fetched = await fetchText(document, phases, signal);
      return fetched.text.trim() === '' ? (fallback ?? fetched) : fetched;
    } catch (error) {
      const isRefusal = isCarrelError(error) && error.code !== 'internal' && !signal.aborted;
      if (fallback === undefined || !isRefusal) throw error;
      return fallback;
    }
  };

  const fetchText = async (document: FessDocument, phases: Phases, signal: AbortSignal) => {
    const copy = contentFetch.viaFess ? await phases.during('fetching', () => fromFess(document, signal)) : undefined;
    const fetched = copy ?? (await phases.during('fetching', () => fromUrl(document, signal)));
    const source = copy === undefined ? ('url' as const) : ('fess' as const);
    return { ...(await phases.during('converting', () => convert(fetched, signal))), source };
  };

  const fromFess = async (document: FessDocument, signal: AbortSignal): Promise<FetchedFile | undefined> => {
    const { url } = document;
    const options = { signal, bytesMax: contentFetch.maxBytes };
    try {
      if (/^https?:/i.test(url)) {
        const page = await deps.api.cachedPage(document, options);
        return page === null ? undefined : { bytes: Buffer.from(page), contentType: 'text/html; charset=utf-8', url };
      }
      const original = await deps.api.original(document, options);
      return original?.kind === 'bytes' ? { ...original, url } : undefined;
    } catch (error) {
      if (faultOf(error) !== 'answer_too_large') throw error;
      throw explainRefusal(new CarrelError('too_large', "Fess's copy of the document exceeds the limit."), true);
    }
  };

  const fromUrl = async ({ url }: FessDocument, signal: AbortSignal): Promise<FetchedFile> => {
    try {
      assertNotFess(url, settings.fessBaseUrl);
      const { body, contentType } = await deps.fetch(url, { signal, inspectHead: checkHead });
      return { bytes: body, contentType: contentType ?? '', url };
    } catch (error) {
      throw explainRefusal(error, contentFetch.viaFess);
    }
  };

  const checkHead = ({ status, url, contentType }: FetchHead): void => {
    assertNotFess(url, settings.fessBaseUrl);
    if (status >= 400) {
      throw new CarrelError('content_unavailable', `The document's URL answers with status ${status}.`, {
        data: { status },
      });
    }
    if (!contentFetch.enablePdf && isPdf(contentType ?? '')) throw pdfDisabled();
  };

  const convert = async ({ bytes, contentType, url }: FetchedFile, signal: AbortSignal) => {
    if (!contentFetch.enablePdf && isPdf(contentType, bytes)) throw pdfDisabled();
    const utf8Text = plainText(contentType, bytes);
    if (utf8Text !== undefined) return { text: utf8Text, isTruncated: false };
    const key = createHash('sha256').update(`${contentType}\n${url}\n`).update(bytes).digest('hex');
    const cached = converted.get(key);
    if (cached !== undefined) return cached;
    const { text, truncated } = await deps.extractor.extract(
      { bytes, contentType, url, mode: 'text', extent: 'all' },
      { signal },
    );
    const result = { text, isTruncated: truncated !== undefined };
    converted.set(key, result);
    return result;
  };

  return {
    async read(document, phases, signal) {
      const acquired = await acquire(document, phases, signal);
      const text = acquired.text.toWellFormed();
      const hash = textHash(text);
      hashes.set(document.docId, hash);
      return { ...acquired, text, hash };
    },
    knownHash(document) {
      const indexed = fullIndexText(document);
      return indexed === undefined ? hashes.get(document.docId) : textHash(indexed.toWellFormed());
    },
  };
}

interface FetchedFile {
  bytes: Uint8Array;
  contentType: string;
  url: string;
}

/** Throws if the URL is part of Fess itself: its API would return documents outside the label. */
function assertNotFess(url: string, fessBaseUrl: string): void {
  const target = URL.parse(url);
  const base = new URL(fessBaseUrl);
  if (target === null || target.host !== base.host) return;
  const path = target.pathname.slice(base.pathname.replace(/\/+$/, '').length);
  if (!/^\/+(?:api|json|cache|go|search|admin|thumbnail|osdd)(?:\/|$)/i.test(path)) return;
  throw new CarrelError('host_not_allowed', 'The document is a page of Fess itself. Such pages are never read.');
}

function fetchDisabled(): CarrelError {
  const message =
    'The index has no full text of this document, and fetching it from its URL is disabled. The operator can enable it with contentFetch.enabled.';
  return new CarrelError('content_fetch_disabled', message);
}

/** Max characters of a digest in Fess. A longer text must be more than a digest. */
const digestCharsMax = 200;

/** Returns the text in the index if it is too long to be a digest. */
function fullIndexText(document: FessDocument): string | undefined {
  const text = anyIndexText(document);
  return text !== undefined && text.length > digestCharsMax ? text : undefined;
}

/** Returns the longest text in the index: content, body or digest. */
function anyIndexText({ content, digest, fields }: FessDocument): string | undefined {
  return longest([content, fields['body'], digest]);
}

/** Returns content or body. Even a short one is complete if Fess returns these fields. */
function indexedBody({ content, fields }: FessDocument): string | undefined {
  return longest([content, fields['body']]);
}

function longest(texts: readonly unknown[]): string | undefined {
  return texts
    .filter((text) => typeof text === 'string')
    .filter((text) => text.trim() !== '')
    .toSorted((a, b) => b.length - a.length)[0];
}
