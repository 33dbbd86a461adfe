import { createHash } from 'node:crypto';
import { isBlank } from '../base/text.ts';
import type { StoredPage, VisitedPage } from '../storage/web/pages.ts';
import type { FetchResponse } from '../web/safe-fetch.ts';
import { normaliseUrl } from './address.ts';
import { createNotFoundCheck, extractPage, visibleText } from './extract-page.ts';
import type { Fetched } from './fetch-page.ts';
import { encodeSketch, findDuplicate, sketchOf } from './near-duplicates.ts';
import { dropDocument, makeAlias, noDocument, recordMissing, recordUnread } from './record-page.ts';
import { type FoundLinks, noteLimit, noteReason, type RunContext, savePage } from './run-context.ts';
import { storePage } from './store-page.ts';

/** Error codes of valid documents without readable text. */
const unreadableCodes = new Set(['unsupported_content_type', 'encrypted_document', 'no_text_in_document']);

/** Reads fetched pages and stores them as documents. Skips pages that forbid indexing, are duplicates or are unchanged. */
export function createPageReader(context: RunContext) {
  const { state, texts } = context;
  const { summary } = state;
  const isNotFoundPage = createNotFoundCheck(context);

  return async (page: StoredPage, fetched: Fetched & { outcome: 'page' }): Promise<void> => {
    const { response } = fetched;
    summary.bytes += response.body.length;
    const document = await extractPage(context, response);
    if (typeof document === 'string') {
      return recordUnread(context, page, unreadableCodes.has(document) ? 'skipped' : 'failed', document);
    }
    const { links } = document;
    const urls = links === undefined || links.nofollow || fetched.nofollow ? [] : links.urls;
    const visited = {
      ...page,
      failures: 0,
      etag: response.headers['etag'],
      lastModified: response.headers['last-modified'],
    };
    const canonical = links?.canonical == null ? undefined : normaliseUrl(links.canonical);
    if (canonical !== undefined && canonical !== page.url && (await isUsableCanonical(context, canonical))) {
      return makeAlias(context, visited, canonical);
    }
    // Choosing links marks them as known, so this is called only when the page is saved.
    const newLinks = () => ({ links: { urls: chooseLinks(context, page, urls), depth: page.depth + 1 } });
    if (fetched.noindex || links?.noindex === true) {
      noteReason(state, 'skipped', 'noindex', page.url);
      await dropDocument(context, page);
      return savePage(context, page, [{ ...visited, ...noDocument, state: 'skipped' }], newLinks());
    }
    if (isBlank(document.text)) {
      noteReason(state, 'skipped', 'no_text_in_document', page.url);
      return savePage(
        context,
        page,
        [page.document === undefined ? { ...visited, state: 'skipped' } : visited],
        newLinks(),
      );
    }
    const text = visibleText(document.text);
    const textHash = createHash('sha256').update(text).digest('hex');
    if (textHash === page.textHash && page.state === 'stored') {
      summary.unchanged += 1;
      return savePage(context, page, [visited], newLinks());
    }
    const sketch = sketchOf(text);
    if (page.url !== state.root && (await isNotFoundPage(page.url, sketch)))
      return recordMissing(context, page, 'soft 404');
    const duplicateOf =
      page.document === undefined ? findDuplicate(texts, page.url, { hash: textHash, sketch }) : undefined;
    const changed: VisitedPage = { ...visited, textHash, sketch: encodeSketch(sketch) };
    // Links of a duplicate are not followed: generated duplicates may link to ever more of them.
    if (duplicateOf !== undefined) return saveDuplicate(context, page, { ...changed, target: duplicateOf });
    // Registered now, before the next page is compared.
    texts.set(page.url, { hash: textHash, sketch });
    return store(context, page, changed, response, newLinks);
  };
}

function saveDuplicate(context: RunContext, page: StoredPage, changed: VisitedPage): Promise<void> {
  context.state.summary.duplicates += 1;
  return savePage(context, page, [{ ...changed, state: 'duplicate', document: undefined }]);
}

async function store(
  context: RunContext,
  page: StoredPage,
  changed: VisitedPage,
  { body: bytes, contentType }: FetchResponse,
  newLinks: () => { links: FoundLinks },
): Promise<void> {
  const { engine, signal, state, texts, run } = context;
  const { tags, settings } = run.source;
  const { url, document } = page;
  const stored = await storePage(engine, { url, bytes, contentType, tags, title: settings.title, document }, signal);
  if (stored.outcome === 'stored') {
    state.summary[stored.as] += 1;
    const change: VisitedPage = { ...changed, state: 'stored', document: stored.document, target: undefined };
    return savePage(context, page, [change], newLinks());
  }
  texts.delete(url);
  if (stored.outcome === 'duplicate') {
    await dropDocument(context, page);
    return saveDuplicate(context, page, changed);
  }
  noteReason(state, 'failed', stored.reason, url);
  const change: VisitedPage = { ...page, state: document === undefined ? 'failed' : page.state };
  return savePage(context, page, [change], newLinks());
}

/** True if the canonical URL belongs to the source and is not stored as an alias or a failure. */
async function isUsableCanonical({ scope, web, run }: RunContext, url: string): Promise<boolean> {
  if (!scope(url)) return false;
  const [stored] = await web.byUrl({ source: run.source.id, urls: [url] });
  return stored?.state !== 'alias' && stored?.state !== 'failed';
}

/** Returns the links that are new to the source and may be followed. */
function chooseLinks({ run, state, links, scope }: RunContext, page: StoredPage, urls: readonly string[]): string[] {
  const { settings } = run.source;
  if (!settings.follows || urls.length === 0) return [];
  const { fresh, omitted } = links.choose(urls, scope);
  if (omitted > 0) noteLimit(state, 'calendar');
  if (page.depth < settings.depth) return fresh;
  if (fresh.length > 0) noteLimit(state, 'depth');
  for (const url of fresh) links.forget(url);
  return [];
}
