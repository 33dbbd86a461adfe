import { CarrelError } from '../../base/errors.ts';
import { respondJson } from '../../http/respond.ts';
import { sendFile } from '../../http/send-file.ts';
import {
  bulkReplaceTags,
  bulkSetTags,
  bulkTags,
  move,
  note,
  searchRequest,
  selection,
  tagChange,
} from '../contract/requests.ts';
import { boundedDocument, boundedJob, boundedPage, boundedSearch, boundedTags } from './bounded-answers.ts';
import { type RouteCall, readJson, readList, readText } from './read-input.ts';
import { submitForm } from './submit-form.ts';

type Run = (call: RouteCall) => Promise<void>;

export interface RouteOptions {
  readonly fileBytesMax: number;
  readonly answerBytesMax: number;
  readonly readOnly: boolean;
}

/** Creates all endpoints of the engine's API. */
export function createRoutes({ fileBytesMax, answerBytesMax: bytesMax, readOnly }: RouteOptions) {
  const read =
    (answer: (call: RouteCall) => Promise<unknown>): Run =>
    async (call) =>
      respondJson(call.response, 200, await answer(call));
  const change = (answer: (call: RouteCall) => Promise<unknown>): Run => unlessReadOnly(read(answer));
  const unlessReadOnly =
    (run: Run): Run =>
    (call) =>
      readOnly || call.isReadOnly ? rejectChange(readOnly) : run(call);

  const routes: Readonly<Record<string, Run>> = {
    'GET /status': read(({ engine, signal }) => engine.status({ signal })),
    'POST /search': read(async ({ engine, request, signal }) => {
      const search = await readJson(request, searchRequest);
      return boundedSearch(await engine.search(search, { signal }), search.offset ?? 0, bytesMax);
    }),
    'GET /tags': read((call) => boundedTags(call, bytesMax)),
    'GET /jobs': read(({ engine, query, signal }) =>
      boundedPage('jobs', query, bytesMax, async (page) => {
        const found = await engine.jobs({ status: readText(query, 'status'), ...page }, { signal });
        return { ...found, jobs: found.jobs.map((job) => boundedJob(job, bytesMax)) };
      }),
    ),
    'POST /jobs': unlessReadOnly((call) => submitForm(call, fileBytesMax)),
    'GET /jobs/:id': read(async ({ engine, id, signal }) => boundedJob(await engine.job(id, { signal }), bytesMax)),
    'DELETE /jobs/:id': change(async ({ engine, id }) => boundedJob(await engine.cancelJob(id), bytesMax)),
    'GET /documents': read(({ engine, query, signal }) => {
      const request = {
        type: readText(query, 'type') ?? readText(query, 'doc_type'),
        tags: readList(query, 'tags'),
        source_path: readText(query, 'source_path'),
        query: readText(query, 'query'),
      };
      return boundedPage('documents', query, bytesMax, (page) => engine.documents({ ...request, ...page }, { signal }));
    }),
    'GET /documents/:id': read(async (call) => boundedDocument(call, documentId(call), bytesMax)),
    'PATCH /documents/:id': change(async (call) =>
      call.engine.moveDocument(documentId(call), (await readJson(call.request, move)).source_path),
    ),
    'DELETE /documents/:id': change(async (call) => call.engine.deleteDocument(documentId(call))),
    'POST /documents/:id/restore': change(async (call) => call.engine.restoreDocument(documentId(call))),
    'GET /documents/:id/file': async (call) => {
      const { engine, request, response, signal } = call;
      await sendFile(await engine.file(documentId(call), { signal }), request, response);
    },
    'PUT /documents/:id/tags': change(async (call) =>
      call.engine.changeTags(documentId(call), await readJson(call.request, tagChange)),
    ),
    'PATCH /notes/:id': change(async (call) => {
      const { text } = await readJson(call.request, note);
      return call.engine.updateNote(documentId(call), text, { signal: call.signal });
    }),
    'POST /bulk/delete': change(async ({ engine, request }) => engine.bulkDelete(await readJson(request, selection))),
    'POST /bulk/tags': change(async ({ engine, request }) => {
      const { add, remove, ...selected } = await readJson(request, bulkTags);
      return engine.bulkTags(selected, { add, remove });
    }),
    'POST /bulk/replace-tags': change(async ({ engine, request }) => {
      const { add, remove, replaces, ...selected } = await readJson(request, bulkReplaceTags);
      return engine.bulkTags(selected, { add, remove, replaces });
    }),
    'POST /bulk/set-tags': change(async ({ engine, request }) => {
      const { tags, set_tags: newTags, ...selected } = await readJson(request, bulkSetTags);
      return newTags === undefined
        ? engine.bulkSetTags(selected, tags ?? [])
        : engine.bulkSetTags({ ...selected, tags }, newTags);
    }),
  };

  const byPath = Object.entries(Object.groupBy(Object.entries(routes), ([route]) => route.split(' ')[1] ?? ''));
  const patterns = byPath.map(([path, found = []]) => ({
    expression: new RegExp(`^${path.replace(':id', '([^/]+)')}/?$`),
    methods: Object.fromEntries(found.map(([route, run]) => [route.split(' ')[0] ?? '', run])),
  }));
  return {
    find(path: string): { methods: Readonly<Record<string, Run>>; id: string } | undefined {
      for (const { expression, methods } of patterns) {
        const match = expression.exec(path);
        if (match !== null) return { methods, id: match[1] ?? '' };
      }
      return undefined;
    },
  };
}

/** Reads the document id in the path. An id that is not a number matches no document. */
function documentId({ id: text }: RouteCall): number {
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (id > 0) return id;
  throw new CarrelError('document_not_found', 'No document has this id: ids are numbers.');
}

async function rejectChange(byServer: boolean): Promise<void> {
  const who = byServer ? 'This engine runs with --read-only' : 'This token is read-only';
  throw new CarrelError('tool_disabled', `${who}, so nothing can be changed.`);
}
