import type {
  BulkSelection,
  Engine,
  EngineCall,
  EngineDocument,
  JobId,
  Submission,
  SubmitOutcome,
  TagCount,
} from '../engine.ts';
import { createEngineClient, type EngineClientConfig, type EngineRequest, queryOf } from './engine-client.ts';
import { findBySource } from './find-by-source.ts';
import { gather } from './gather.ts';
import { looseList, looseNumber, looseObject, looseText } from './loose.ts';
import { multipartForm } from './multipart.ts';
import {
  readBulk,
  readDeleted,
  readDocument,
  readDuplicate,
  readJob,
  readListed,
  readNext,
  readSearch,
  readStatus,
  readSubmitted,
  readTags,
} from './read-answers.ts';
import { replaceTags } from './replace-tags.ts';
import { overviewOf, readTagOverview } from './tag-overview.ts';

/** An engine behind HTTP: ours, or one whose answers have other shapes (see `read-answers.ts`). */
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

  const engine: Engine = {
    status: (options) => client.ask(get('/status', options), readStatus),
    async search(request, options) {
      const ask = (offset: number | undefined) =>
        client.ask({ ...send('POST', '/search', { ...request, offset }, options), repeatable: true }, (value) => {
          const answer = readSearch(value, request.query);
          return answer && { answer, next: looseNumber(looseObject(value)['next_offset']) ?? undefined };
        });
      const { answer, next } = await ask(request.offset);
      const results = [...answer.results];
      for (let from = next; from !== undefined; ) {
        const more = await ask(from);
        results.push(...more.answer.results);
        from = more.answer.results.length === 0 ? undefined : more.next;
      }
      return { ...answer, results, returned: results.length };
    },
    submit: (submission, { signal } = {}) => {
      const { contentType, body } = formOf(submission);
      const headers = { 'content-type': contentType };
      const request = { method: 'POST', path: '/jobs', headers, body, signal, accept: [409] };
      const filename = 'note' in submission ? 'note' : submission.filename;
      return client.ask<SubmitOutcome>(request, (value, status) =>
        status === 409 ? readDuplicate(value) : readSubmitted(value, filename),
      );
    },
    jobs: ({ status, ...page }, options) =>
      gather('jobs', page, ({ limit, offset }) =>
        client.ask(get('/jobs', options, { query: queryOf({ status, limit, offset }) }), (value) => {
          const found = looseList(value, ['jobs'])?.flatMap((job) => readJob(job) ?? []);
          if (found === undefined) return undefined;
          // An engine that knows neither filters nor pages returns everything.
          const kept = status === undefined ? found : found.filter((job) => job.status === status);
          const total = looseNumber(looseObject(value)['total']);
          const jobs =
            limit === undefined || kept.length <= limit ? kept : kept.slice(offset ?? 0, (offset ?? 0) + limit);
          return { jobs, total: total ?? kept.length, isCut: readNext(value) !== undefined };
        }),
      ),
    job: (id, options) => client.ask(get(jobPath(id), options, { meanings: { 404: 'job_not_found' } }), readJob),
    cancelJob: async (id, options = {}) => {
      const request = { method: 'DELETE', path: jobPath(id), signal: options.signal, meanings: jobMeanings };
      const told = await client.ask(request, (value, status) => ({ job: status === 204 ? undefined : readJob(value) }));
      return told.job ?? engine.job(id, options);
    },
    documents: async (request, options = {}) => {
      const { source_path: sourcePath, type, tags, query, ...page } = request;
      if (sourcePath !== undefined) return findBySource(request, client, engine, options);
      return gather('documents', page, ({ limit, offset }) =>
        client.ask(
          get('/documents', options, { query: queryOf({ type, tags: tags?.join(','), query, limit, offset }) }),
          (value) => {
            const listed = looseList(value, ['documents'])?.flatMap((each) => readListed(each) ?? []);
            if (listed === undefined) return undefined;
            // An engine that does not know `query` returns the others too.
            const found = listed.filter(isNamed(query));
            const total = found.length === listed.length ? looseNumber(looseObject(value)['total']) : null;
            const documents =
              limit === undefined || found.length <= limit ? found : found.slice(offset ?? 0, (offset ?? 0) + limit);
            return { documents, total: total ?? found.length, isCut: readNext(value) !== undefined };
          },
        ),
      );
    },
    async document(id, { first_chunk: first = 0, max_chunks: most, ...options } = {}) {
      const query = queryOf({ first_chunk: first === 0 ? undefined : first, max_chunks: most });
      const document = await client.ask(get(documentPath(id), options, { meanings, query }), readDocument);
      // An engine that knows no parts returns all.
      const chunks = document.chunks.filter(({ chunk_index: index }) => index >= first).slice(0, most);
      return { ...document, chunks };
    },
    async documentAlone(id, options) {
      const { chunks: _, chunks_left: __, ...document } = await engine.document(id, { ...options, max_chunks: 0 });
      return document;
    },
    async file(id, options) {
      const { headers, content } = await client.open(get(`${documentPath(id)}/file`, options, { meanings }));
      return {
        filename: fileNameIn(headers['content-disposition']) ?? String(id),
        content_type: headers['content-type'] ?? 'application/octet-stream',
        size: Number(headers['content-length'] ?? 0),
        content,
      };
    },
    async deleteDocument(id, options) {
      const request = { method: 'DELETE', path: documentPath(id), signal: options?.signal, meanings };
      return client.ask(request, (value, status) => readDeleted(value, status, id));
    },
    restoreDocument: (id, options) =>
      client.ask(
        { ...send('POST', `${documentPath(id)}/restore`, {}, options), meanings: restoreMeanings },
        (value) => {
          const told = readSubmitted(value, '');
          if (told === undefined || !told.accepted) return undefined;
          const title = looseText(looseObject(value)['title']) ?? '';
          return { status: told.status, document_id: id, title, job_id: told.job_id };
        },
      ),
    async changeTags(id, { remove = [], add = [] }, options) {
      const request = { ...send('PUT', `${documentPath(id)}/tags`, { remove, add }, options), meanings };
      const told = await client.ask(request, (value) => ({ document: readDocument(value) }));
      // An answer that lacks tags would look like a document without any.
      return told.document?.tags.length ? told.document : engine.documentAlone(id, options);
    },
    async moveDocument(id, sourcePath, options) {
      const request = {
        ...send('PATCH', documentPath(id), { source_path: sourcePath }, options),
        meanings: moveMeanings,
      };
      const told = await client.ask(request, (value) => ({ document: readDocument(value) }));
      return told.document ?? engine.documentAlone(id, options);
    },
    async updateNote(id, text, options) {
      const request = { ...send('PATCH', `/notes/${id}`, { text }, options), meanings: noteMeanings };
      const told = await client.ask(request, (value) => ({ document: readDocument(value) }));
      return told.document ?? engine.documentAlone(id, options);
    },
    async tags({ after, limit, ...options } = {}) {
      const tags: TagCount[] = [];
      for (let from = after; ; ) {
        const query = queryOf({ after: from, limit: limit === undefined ? undefined : limit - tags.length });
        const page = await client.ask(get('/tags', options, { query }), (value) => {
          const found = readTags(value);
          return found && { found, next: readNext(value)?.get('after') ?? undefined };
        });
        tags.push(...page.found);
        if (page.next === undefined || page.found.length === 0) return tags;
        from = page.next;
      }
    },
    async tagOverview(most, options) {
      const { collections, others } = most;
      const answer = await client.ask(get('/tags', options, { query: queryOf({ collections, others }) }), (value) => {
        const overview = readTagOverview(value);
        const found = readTags(value);
        return overview ?? (found && { found, next: readNext(value)?.get('after') ?? undefined });
      });
      if (!('found' in answer)) return answer;
      const { found, next } = answer;
      return overviewOf(
        next === undefined ? found : [...found, ...(await engine.tags({ ...options, after: next }))],
        most,
      );
    },
    bulkDelete: (selection, options) => client.ask(bulk('delete', selection, {}, options), readBulk),
    bulkTags: (selection, change, options) => {
      const { remove = [], add = [], replaces } = change;
      if (replaces === undefined) return client.ask(bulk('tags', selection, { remove, add }, options), readBulk);
      const request = bulk('replace-tags', selection, { remove, add, replaces }, options);
      const ask = () => client.ask({ ...request, meanings: { ...request.meanings, ...replaceMeanings } }, readBulk);
      return replaceTags(engine, selection, change, { ...options, ask });
    },
    bulkSetTags: (selection, tags, options) =>
      client.ask(bulk('set-tags', selection, { set_tags: tags }, options), readBulk),
    close: async () => client.close(),
  };

  const bulk = (kind: string, selection: BulkSelection, change: object, options?: EngineCall): EngineRequest => ({
    ...send('POST', `/bulk/${kind}`, { ...selection, ...change }, options),
    meanings: { 409: 'safety_threshold_exceeded' },
  });
  return engine;
}

const meanings = { 404: 'document_not_found' } as const;
/** An engine that cannot move documents: for whoever asks it is as if there were none. */
const moveMeanings = { ...meanings, 405: 'document_not_found' } as const;
/** So is one that keeps none that were deleted. */
const restoreMeanings = { ...moveMeanings, 409: 'duplicate' } as const;
const noteMeanings = { 404: 'document_not_found', 422: 'not_a_note' } as const;
/** One that cannot replace tags of a kind has no such path. */
const replaceMeanings = { 404: 'document_not_found', 405: 'document_not_found' } as const;
const jobMeanings = { 404: 'job_not_found' } as const;

function isNamed(query = ''): (document: EngineDocument) => boolean {
  const plain = (text: string) => text.toLowerCase().normalize('NFC');
  const words = plain(query).split(/\s+/);
  return ({ title, source_path: path }) => {
    const names = [title, path ?? ''].map(plain);
    return words.every((word) => names.some((name) => name.includes(word)));
  };
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
