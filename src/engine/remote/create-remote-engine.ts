import * as z from 'zod';
import { isCarrelError } from '../../base/errors.ts';
import { isCollectionTag } from '../collection-tag.ts';
import {
  bulkOutcome,
  deleted,
  document,
  documentPage,
  documentWithChunks,
  duplicate,
  job,
  jobPage,
  restoring,
  searchAnswer,
  status,
  submitted,
  tagPage,
} from '../contract/answers.ts';
import type {
  BulkOutcome,
  BulkSelection,
  Engine,
  EngineCall,
  EngineDocument,
  EngineHit,
  JobId,
  Submission,
} from '../engine.ts';
import { createEngineClient, type EngineClientConfig, type EngineRequest, queryOf } from './engine-client.ts';
import { endlessListError } from './engine-errors.ts';
import { multipartForm } from './multipart.ts';

/** Creates a client for a remote engine: Carrel's own, or another with the same API. */
export function createRemoteEngine(config: EngineClientConfig): Engine {
  const client = createEngineClient(config);
  const get = (path: string, { signal }: EngineCall = {}, more: Partial<EngineRequest> = {}): EngineRequest => ({
    method: 'GET',
    path,
    signal,
    ...more,
  });
  const send = (method: string, path: string, json: unknown, { signal }: EngineCall = {}): EngineRequest => ({
    method,
    path,
    json,
    signal,
  });
  const bulk = (kind: string, selection: BulkSelection, change: object, options?: EngineCall): EngineRequest => ({
    ...send('POST', `/bulk/${kind}`, { ...selection, ...change }, options),
    errorCodes: { 409: 'safety_threshold_exceeded' },
  });
  /** Returns the changed document. Reads it if the engine answered with something else. */
  const changed = async (id: number, request: EngineRequest, options?: EngineCall): Promise<EngineDocument> =>
    (await client.request(request, document.nullable().catch(null))) ?? engine.documentWithoutChunks(id, options);

  const engine: Engine = {
    status: (options) => client.request(get('/status', options), status),
    async search(request, options) {
      const fetchPage = (offset: number | undefined) =>
        client.request({ ...send('POST', '/search', { ...request, offset }, options), repeatable: true }, searchAnswer);
      const { next_offset: next, total_matches: total, ...answer } = await fetchPage(request.offset);
      const results: EngineHit[] = [...answer.results];
      let from = next;
      for (let page = 2; from !== undefined; page += 1) {
        if (page > pagesMax) throw endlessListError();
        const more: z.output<typeof searchAnswer> = await fetchPage(from);
        results.push(...more.results);
        if (more.next_offset !== undefined && more.next_offset <= from) throw endlessListError();
        from = more.results.length === 0 ? undefined : more.next_offset;
      }
      const { query } = request;
      return { ...answer, query, results, total_matches: total ?? results.length, returned: results.length };
    },
    async submit(submission, { signal } = {}) {
      const { contentType, body } = formOf(submission);
      const headers = { 'content-type': contentType };
      const answer = await client.send({ method: 'POST', path: '/jobs', headers, body, signal, accept: [409] });
      if (answer.status === 409) return { accepted: false, ...answer.as(duplicate) };
      const { filename = 'note' in submission ? 'note' : submission.filename, ...accepted } = answer.as(submitted);
      return { accepted: true, ...accepted, filename };
    },
    async jobs({ status, limit, offset }, options) {
      const { items, total } = await readList('jobs', { status, limit, offset }, jobPage, ({ jobs }) => jobs, options);
      return { jobs: items, total };
    },
    job: (id, options) => client.request(get(jobPath(id), options, { errorCodes: jobErrorCodes }), job),
    cancelJob: (id, options = {}) =>
      client.request({ method: 'DELETE', path: jobPath(id), signal: options.signal, errorCodes: jobErrorCodes }, job),
    async documents({ type, tags, source_path: sourcePath, query: words, limit, offset }, options) {
      const query = { type, tags: tags?.join(','), source_path: sourcePath, query: words, limit, offset };
      const { items, total } = await readList('documents', query, documentPage, (page) => page.documents, options);
      // Filters again: an engine may ignore these filters.
      const hasPath = (path: string | null) => sourcePath === undefined || path === sourcePath;
      const documents = items.filter((each) => hasPath(each.source_path) && matchesQuery(each, words));
      return { documents, total: documents.length === items.length ? total : documents.length };
    },
    async document(id, { first_chunk: first = 0, max_chunks: maxChunks, ...options } = {}) {
      const query = queryOf({ first_chunk: first === 0 ? undefined : first, max_chunks: maxChunks });
      const found = await client.request(get(documentPath(id), options, { errorCodes, query }), documentWithChunks);
      // Some engines ignore `first_chunk` and return all chunks.
      const chunks = found.chunks.filter(({ chunk_index: index }) => index >= first).slice(0, maxChunks);
      return { ...found, chunks };
    },
    async documentWithoutChunks(id, options) {
      const { chunks: _, chunks_left: __, ...found } = await engine.document(id, { ...options, max_chunks: 0 });
      return found;
    },
    async file(id, options) {
      const { headers, content } = await client.open(get(`${documentPath(id)}/file`, options, { errorCodes }));
      return {
        filename: fileNameIn(headers['content-disposition']) ?? String(id),
        content_type: headers['content-type'] ?? 'application/octet-stream',
        size: Number(headers['content-length'] ?? 0),
        content,
      };
    },
    async deleteDocument(id, options) {
      const request = { method: 'DELETE', path: documentPath(id), signal: options?.signal, errorCodes };
      return { status: 'deleted', document_id: id, ...(await client.request(request, deleted)) };
    },
    async restoreDocument(id, options) {
      const request = { ...send('POST', `${documentPath(id)}/restore`, {}, options), errorCodes: restoreErrorCodes };
      return { document_id: id, ...(await client.request(request, restoring)) };
    },
    changeTags: (id, { remove = [], add = [] }, options) =>
      changed(id, { ...send('PUT', `${documentPath(id)}/tags`, { remove, add }, options), errorCodes }, options),
    moveDocument: (id, sourcePath, options) => {
      const request = send('PATCH', documentPath(id), { source_path: sourcePath }, options);
      return changed(id, { ...request, errorCodes: moveErrorCodes }, options);
    },
    updateNote: (id, text, options) =>
      changed(id, { ...send('PATCH', `/notes/${id}`, { text }, options), errorCodes: noteErrorCodes }, options),
    tags: async ({ after, limit, ...options } = {}) =>
      (await readList('tags', { after, limit }, tagPage, ({ tags }) => tags, options)).items,
    bulkDelete: (selection, options) => client.request(bulk('delete', selection, {}, options), bulkOutcome),
    async bulkTags(selection, { remove = [], add = [], replaces }, options) {
      if (replaces === undefined) return client.request(bulk('tags', selection, { remove, add }, options), bulkOutcome);
      const request = bulk('replace-tags', selection, { remove, add, replaces }, options);
      try {
        return await client.request(
          { ...request, errorCodes: { ...request.errorCodes, ...moveErrorCodes } },
          bulkOutcome,
        );
      } catch (error) {
        if (!isCarrelError(error) || error.code !== 'document_not_found') throw error;
      }
      // The engine lacks this endpoint, so the tags to remove are listed instead.
      const all = (await engine.tags(options)).map(({ tag }) => tag);
      const replaced = all.filter((tag) => isCollectionTag(tag) === (replaces === 'collections') && !add.includes(tag));
      return removeTags(engine, selection, [...new Set([...remove, ...replaced])], add, options);
    },
    bulkSetTags: (selection, tags, options) =>
      client.request(bulk('set-tags', selection, { set_tags: tags }, options), bulkOutcome),
    close: async () => client.close(),
  };
  return engine;

  /** Reads all pages of a list. `next` is the query string of the next page. */
  async function readList<Page extends { total?: number; next?: string }, Item>(
    name: 'jobs' | 'documents' | 'tags',
    parameters: { readonly limit: number | undefined } & Parameters<typeof queryOf>[0],
    schema: z.ZodType<Page>,
    itemsOf: (page: Page) => readonly Item[],
    options?: EngineCall,
  ): Promise<{ items: Item[]; total: number }> {
    // Some engines return lists as bare arrays.
    const listed = z.preprocess((value) => (Array.isArray(value) ? { [name]: value } : value), schema);
    const { limit = Number.POSITIVE_INFINITY } = parameters;
    const items: Item[] = [];
    let total: number | undefined;
    let query = queryOf(parameters);
    for (let pages = 1; pages <= pagesMax && items.length <= itemsMax[name]; pages += 1) {
      const page = await client.request(get(`/${name}`, options, { query }), listed);
      const found = itemsOf(page);
      items.push(...found);
      total ??= page.total;
      const isComplete = page.next === undefined || found.length === 0 || items.length >= limit;
      if (isComplete) return { items: items.slice(0, limit), total: total ?? items.length };
      if (page.next === `?${query}`) break;
      query = new URLSearchParams(page.next);
    }
    throw endlessListError();
  }
}

const errorCodes = { 404: 'document_not_found' } as const;
/** 405 means that the engine cannot move documents. It is reported as `document_not_found`. */
const moveErrorCodes = { ...errorCodes, 405: 'document_not_found' } as const;
/** 405 here means that the engine does not keep deleted documents. */
const restoreErrorCodes = { ...moveErrorCodes, 409: 'duplicate' } as const;
const noteErrorCodes = { 404: 'document_not_found', 422: 'not_a_note' } as const;
const jobErrorCodes = { 404: 'job_not_found' } as const;

/** Max pages of one list. A page of Carrel's engine has a few thousand items. */
const pagesMax = 100;
/** Max items of all pages of one list. */
const itemsMax = { jobs: 100_000, documents: 100_000, tags: 1_000_000 } as const;

/** Max tags in one request; Carrel's engine accepts 64. */
const batchMax = 60;

/** Removes tags in batches. Tags that select the documents are removed last: without them, nothing would be selected. */
async function removeTags(
  engine: Pick<Engine, 'bulkTags'>,
  selection: BulkSelection,
  remove: readonly string[],
  add: readonly string[],
  options?: EngineCall,
): Promise<BulkOutcome> {
  const selecting = remove.filter((tag) => selection.tags?.includes(tag));
  const otherTags = remove.filter((tag) => !selecting.includes(tag));
  const firstMax = batchMax - selecting.length;
  for (let start = firstMax; start < otherTags.length; start += batchMax) {
    await engine.bulkTags(selection, { remove: otherTags.slice(start, start + batchMax) }, options);
  }
  return engine.bulkTags(selection, { remove: [...otherTags.slice(0, firstMax), ...selecting], add }, options);
}

function matchesQuery({ title, source_path: path }: EngineDocument, query = ''): boolean {
  const normalise = (text: string) => text.toLowerCase().normalize('NFC');
  const names = [title, path ?? ''].map(normalise);
  return normalise(query)
    .split(/\s+/)
    .every((word) => names.some((name) => name.includes(word)));
}

function documentPath(id: number): string {
  return `/documents/${id}`;
}

function jobPath(id: JobId): string {
  return `/jobs/${encodeURIComponent(String(id))}`;
}

function formOf(submission: Submission) {
  const { title, tags = [], doc_type: docType, source_path: sourcePath, replaces } = submission;
  const fields = {
    ...(title === undefined ? {} : { title }),
    ...(tags.length === 0 ? {} : { tags: tags.join(',') }),
    ...(docType === undefined ? {} : { doc_type: docType }),
    ...(sourcePath === undefined ? {} : { source_path: sourcePath }),
    ...(replaces === undefined ? {} : { replaces: String(replaces) }),
  };
  if ('note' in submission) return multipartForm({ ...fields, note: submission.note });
  const { filename, content, size } = submission;
  return multipartForm(fields, { filename, content, size });
}

function fileNameIn(disposition: string | undefined): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (encoded !== undefined && URL.canParse(`x:${encoded}`)) return decodeName(encoded);
  return /filename="([^"]*)"/i.exec(disposition ?? '')?.[1];
}

function decodeName(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
