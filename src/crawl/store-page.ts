import { isCarrelError } from '../base/errors.ts';
import { decodePercent } from '../base/text.ts';
import type { Engine, EngineCall, EngineJob } from '../engine/engine.ts';
import { waitForJob } from '../engine/wait-for-job.ts';

export type PageEngine = Pick<
  Engine,
  'submit' | 'job' | 'documents' | 'documentWithoutChunks' | 'deleteDocument' | 'moveDocument'
>;

export interface PageToStore {
  readonly url: string;
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly tags: readonly string[];
  readonly title: string | undefined;
  /** The page's current document. */
  readonly document: number | undefined;
}

export type StoreOutcome =
  | { readonly outcome: 'stored'; readonly document: number; readonly as: 'new' | 'changed' | 'unchanged' }
  /** Another document has the same bytes. */
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'failed'; readonly reason: string };

/**
 * Stores a page as a new document or replaces its existing one, and waits until it is searchable. If the page has
 * no document but the collection has one with its URL, that document was left by a killed process and is replaced.
 */
export async function storePage(engine: PageEngine, page: PageToStore, signal: AbortSignal): Promise<StoreOutcome> {
  const { url, bytes, contentType, tags, title } = page;
  // The same bytes in another collection are a separate document: a caller may see only one of the two collections.
  const call = { signal, scopedTo: tags.slice(0, 1) };
  const replaces = page.document ?? (await documentAt(engine, url, call));
  const submitted = await engine.submit(
    {
      filename: filenameOf(url, contentType),
      content: once(bytes),
      size: bytes.length,
      title,
      tags,
      source_path: url,
      content_type: contentType,
      replaces,
    },
    call,
  );
  const job = submitted.job_id === undefined ? undefined : await waitForJob(engine, submitted.job_id, signal);
  const document = submitted.accepted ? documentOf(job) : (submitted.document_id ?? documentOf(job));
  if (document === undefined) return { outcome: 'failed', reason: job?.error_code ?? job?.status ?? 'internal' };
  if (submitted.accepted || document === replaces || (await hasUrl(engine, document, url, signal))) {
    if (!submitted.accepted) return { outcome: 'stored', document, as: 'unchanged' };
    return { outcome: 'stored', document, as: replaces === undefined ? 'new' : 'changed' };
  }
  return { outcome: 'duplicate' };
}

/** Moves the document to the trash. Does nothing if it no longer exists. */
export async function removeDocument(engine: PageEngine, id: number, signal: AbortSignal): Promise<void> {
  await engine.deleteDocument(id, { signal }).catch(unlessMissing);
}

/** Sets the document's `source_path` to the page's new URL. Does nothing if the document no longer exists. */
export async function moveDocument(engine: PageEngine, id: number, url: string, signal: AbortSignal): Promise<void> {
  await engine.moveDocument(id, url, { signal }).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!isCarrelError(error) || error.code !== 'document_not_found') throw error;
}

async function documentAt(engine: PageEngine, url: string, call: EngineCall): Promise<number | undefined> {
  const { documents } = await engine.documents({ source_path: url, limit: 1 }, call);
  return documents[0]?.id;
}

async function hasUrl(engine: PageEngine, id: number, url: string, signal: AbortSignal): Promise<boolean> {
  const document = await engine.documentWithoutChunks(id, { signal }).catch(unlessMissing);
  return document?.source_path === url;
}

/** Returns the document of a finished job, even if it failed because the same bytes were stored while it waited. */
function documentOf(job: EngineJob | undefined): number | undefined {
  return job?.status === 'done' || job?.error_code === 'duplicate' ? (job.document_id ?? undefined) : undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Returns the last part of the URL's path. HTML pages get an extension, for downloads. */
function filenameOf(url: string, contentType = ''): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').findLast((part) => part !== '') ?? hostname;
  const name =
    decodePercent(last)
      .replaceAll(/[/\\\p{Cc}]+/gu, ' ')
      .trim() || hostname;
  const isPage = /^\s*(?:text\/html|application\/xhtml)/i.test(contentType);
  return isPage && !/\.[a-z]?html?$/i.test(name) ? `${name}.html` : name;
}
