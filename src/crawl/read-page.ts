import { createHash } from 'node:crypto';
import { isBlank } from '../base/text.ts';
import type { PageFacts, StoredPage } from '../storage/web/pages.ts';
import type { FetchResponse } from '../web/safe-fetch.ts';
import { normalise } from './address.ts';
import { createNotFoundCheck, extractPage, visibleText } from './extract-page.ts';
import type { Fetched } from './fetch-page.ts';
import { dropDocument, leaveOut, makeAlias, miss } from './leave-page.ts';
import { encodeSketch, sketchOf } from './near-duplicates.ts';
import type { RunContext } from './run-context.ts';
import { noteLimit, noteReason } from './run-state.ts';
import { type FoundLinks, savePage } from './save-pages.ts';
import { storePage } from './store-page.ts';

/** Error codes of valid documents without readable text. */
const unreadable = new Set(['unsupported_content_type', 'encrypted_document', 'no_text_in_document']);

export type ReadPage = (page: StoredPage, fetched: Fetched & { outcome: 'page' }) => Promise<void>;

/**
 * Reads a fetched page and stores it as a document, unless it forbids indexing, duplicates another page or is unchanged.
 */
export function createPageReader(context: RunContext): ReadPage {
  const { state, texts } = context;
  const { summary } = state;
  const isNotFoundPage = createNotFoundCheck(context);

  return async (page, fetched) => {
    const { response } = fetched;
    summary.bytes += response.body.length;
    const document = await extractPage(context, response);
    if (typeof document === 'string') {
      return leaveOut(context, page, unreadable.has(document) ? 'skipped' : 'failed', document);
    }
    const { links: asked } = document;
    const found = asked === undefined || asked.nofollow || fetched.nofollow ? [] : asked.urls;
    const facts = {
      ...page,
      failures: 0,
      etag: response.headers['etag'],
      lastModified: response.headers['last-modified'],
    };
    const canonical = asked?.canonical == null ? undefined : normalise(asked.canonical);
    if (canonical !== undefined && canonical !== page.url && (await isBetter(context, canonical))) {
      return makeAlias(context, facts, canonical);
    }
    // Called only when the page is saved. If it is not, its links must stay unknown, so that other pages can add them.
    const fresh = (): FoundLinks => ({ urls: chooseLinks(context, page, found), depth: page.depth + 1 });
    if (fetched.noindex || asked?.noindex === true) {
      noteReason(state, 'skipped', 'noindex', page.url);
      await dropDocument(context, page);
      const nothing = { document: undefined, textHash: undefined, sketch: undefined };
      return savePage(context, page, [{ ...facts, ...nothing, state: 'skipped' }], fresh());
    }
    if (isBlank(document.text)) {
      noteReason(state, 'skipped', 'no_text_in_document', page.url);
      return savePage(context, page, [page.document === undefined ? { ...facts, state: 'skipped' } : facts], fresh());
    }
    const text = visibleText(document.text);
    const textHash = createHash('sha256').update(text).digest('hex');
    if (textHash === page.textHash && page.state === 'stored') {
      summary.unchanged += 1;
      return savePage(context, page, [facts], fresh());
    }
    const sketch = sketchOf(text);
    if (page.url !== state.root && (await isNotFoundPage(page.url, sketch))) return miss(context, page, 'soft 404');
    const twin = page.document === undefined ? texts.find(page.url, textHash, sketch) : undefined;
    // Registered now, before the next page is compared. Links of a duplicate are not followed: they may never end.
    if (twin === undefined) texts.set(page.url, textHash, sketch);
    const changed: PageFacts = { ...facts, textHash, sketch: encodeSketch(sketch) };
    if (twin !== undefined) return saveDuplicate(context, page, { ...changed, target: twin });
    return keep(context, page, changed, response, fresh);
  };
}

function saveDuplicate(context: RunContext, page: StoredPage, changed: PageFacts): Promise<void> {
  context.state.summary.duplicates += 1;
  return savePage(context, page, [{ ...changed, state: 'duplicate', document: undefined }]);
}

async function keep(
  context: RunContext,
  page: StoredPage,
  changed: PageFacts,
  response: FetchResponse,
  fresh: () => FoundLinks,
): Promise<void> {
  const { engine, signal, state, texts, run } = context;
  const { tags, settings } = run.source;
  const { body: bytes, contentType } = response;
  const stored = await storePage(
    engine,
    { url: page.url, bytes, contentType, tags, title: settings.title, document: page.document },
    signal,
  );
  if (stored.outcome !== 'stored') texts.delete(page.url);
  switch (stored.outcome) {
    case 'stored':
      state.summary[stored.as] += 1;
      return savePage(
        context,
        page,
        [{ ...changed, state: 'stored', document: stored.document, target: undefined }],
        fresh(),
      );
    case 'duplicate':
      await dropDocument(context, page);
      return saveDuplicate(context, page, changed);
    case 'failed':
      noteReason(state, 'failed', stored.reason, page.url);
      return savePage(
        context,
        page,
        [{ ...page, state: page.document === undefined ? 'failed' : page.state }],
        fresh(),
      );
  }
}

/** True if the canonical URL belongs to the source and is not known as an alias or a failure. */
async function isBetter({ scope, web, run }: RunContext, url: string): Promise<boolean> {
  if (!scope(url)) return false;
  const [known] = await web.byUrl({ source: run.source.id, urls: [url] });
  return known?.state !== 'alias' && known?.state !== 'failed';
}

/** Returns the links that are new to the source and may be followed. */
function chooseLinks({ run, state, links, scope }: RunContext, page: StoredPage, found: readonly string[]): string[] {
  const { settings } = run.source;
  if (!settings.follows || found.length === 0) return [];
  const isDeep = page.depth >= settings.depth;
  const { fresh, counted } = links.choose(found, scope);
  if (counted > 0) noteLimit(state, 'calendar');
  if (!isDeep) return fresh;
  if (fresh.length > 0) noteLimit(state, 'depth');
  for (const url of fresh) links.forget(url);
  return [];
}
