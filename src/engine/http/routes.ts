import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { respondJson } from '../../http/respond.ts';
import { boundedDocument, boundedJob, boundedPage, boundedSearch, boundedTags } from './bounded-answers.ts';
import { readJson, readList, readText } from './read-input.ts';
import type { RouteCall } from './route-call.ts';
import { sendFile } from './send-file.ts';
import { submitForm } from './submit-form.ts';

type Run = (call: RouteCall) => Promise<void>;
type Methods = Readonly<Record<string, Run>>;

export interface Routes {
  find(path: string): { methods: Methods; captures: readonly string[] } | undefined;
}

export interface RouteOptions {
  readonly fileBytesMax: number;
  /** Of an answer, unless it is a file. */
  readonly answerBytesMax: number;
  readonly readOnly: boolean;
}

const names = z.array(z.string()).max(1_000);

const searchBody = z.object({
  query: z.string(),
  top: z.int().nullish(),
  tags: names.nullish(),
  doc_type: z.string().nullish(),
  fts_only: z.boolean().nullish(),
  vec_only: z.boolean().nullish(),
  threshold: z.number().nullish(),
  include_weak: z.boolean().nullish(),
  neighbours: z.int().nullish(),
  offset: z.int().nullish(),
});
const tagsBody = z.object({ add: names.nullish(), remove: names.nullish() });
const moveBody = z.object({ source_path: z.string() });
const noteBody = z.object({ text: z.string() });
const selection = z.object({
  document_ids: z.array(z.int()).nullish(),
  tags: names.nullish(),
  doc_type: z.string().nullish(),
  from_id: z.int().nullish(),
  to_id: z.int().nullish(),
  force: z.boolean().nullish(),
});
const bulkTagsBody = selection.extend({ add: names.nullish(), remove: names.nullish() });
const bulkReplaceBody = bulkTagsBody.extend({
  replaces: z.enum(['collections', 'others'], { error: 'must be collections or others' }),
});
/** With `set_tags`, `tags` selects the documents, as everywhere else; without it, `tags` is what they get. */
const bulkSetTagsBody = selection
  .extend({ set_tags: names.nullish() })
  .refine(({ tags, set_tags: wanted }) => Boolean(tags ?? wanted), { path: ['set_tags'], error: 'is needed' });

/** Every endpoint of the API (contract §6). */
export function createRoutes({ fileBytesMax, answerBytesMax: bytesMax, readOnly }: RouteOptions): Routes {
  const answer =
    (make: (call: RouteCall) => Promise<unknown>): Run =>
    async (call) =>
      respondJson(call.response, 200, await make(call));
  const change =
    (run: Run): Run =>
    (call) =>
      readOnly || call.isReadOnly ? refused(readOnly) : run(call);

  const table: [pattern: string, methods: Methods][] = [
    ['/status', { GET: answer(({ engine, signal }) => engine.status({ signal })) }],
    ['/search', { POST: answer((call) => search(call, bytesMax)) }],
    ['/tags', { GET: answer((call) => boundedTags(call, bytesMax)) }],
    [
      '/jobs',
      {
        GET: answer(({ engine, query, signal }) =>
          boundedPage('jobs', query, bytesMax, async (page) => {
            const found = await engine.jobs({ status: readText(query, 'status'), ...page }, { signal });
            return { ...found, jobs: found.jobs.map((job) => boundedJob(job, bytesMax)) };
          }),
        ),
        POST: change((call) => submitForm(call, fileBytesMax)),
      },
    ],
    [
      '/jobs/:id',
      {
        GET: answer(async ({ engine, captures: [id = ''], signal }) =>
          boundedJob(await engine.job(id, { signal }), bytesMax),
        ),
        DELETE: change(
          answer(async ({ engine, captures: [id = ''] }) => boundedJob(await engine.cancelJob(id), bytesMax)),
        ),
      },
    ],
    ['/documents', { GET: answer((call) => documents(call, bytesMax)) }],
    [
      '/documents/:id',
      {
        GET: answer((call) => boundedDocument(call, documentId(call.captures), bytesMax)),
        PATCH: change(
          answer(async ({ engine, request, captures }) =>
            engine.moveDocument(documentId(captures), (await readJson(request, moveBody)).source_path),
          ),
        ),
        DELETE: change(answer(({ engine, captures }) => engine.deleteDocument(documentId(captures)))),
      },
    ],
    [
      '/documents/:id/restore',
      { POST: change(answer(({ engine, captures }) => engine.restoreDocument(documentId(captures)))) },
    ],
    ['/documents/:id/file', { GET: (call) => sendFile(call, documentId(call.captures)) }],
    [
      '/documents/:id/tags',
      {
        PUT: change(
          answer(async ({ engine, request, captures }) =>
            engine.changeTags(documentId(captures), present(await readJson(request, tagsBody))),
          ),
        ),
      },
    ],
    [
      '/notes/:id',
      {
        PATCH: change(
          answer(async ({ engine, request, captures, signal }) =>
            engine.updateNote(documentId(captures), (await readJson(request, noteBody)).text, { signal }),
          ),
        ),
      },
    ],
    [
      '/bulk/delete',
      {
        POST: change(
          answer(async ({ engine, request }) => engine.bulkDelete(present(await readJson(request, selection)))),
        ),
      },
    ],
    [
      '/bulk/tags',
      {
        POST: change(
          answer(async ({ engine, request }) => {
            const { add, remove, ...chosen } = present(await readJson(request, bulkTagsBody));
            return engine.bulkTags(chosen, { add, remove });
          }),
        ),
      },
    ],
    [
      '/bulk/replace-tags',
      {
        POST: change(
          answer(async ({ engine, request }) => {
            const { add, remove, replaces, ...chosen } = present(await readJson(request, bulkReplaceBody));
            return engine.bulkTags(chosen, { add, remove, replaces });
          }),
        ),
      },
    ],
    [
      '/bulk/set-tags',
      {
        POST: change(
          answer(async ({ engine, request }) => {
            const { tags, set_tags: wanted, ...chosen } = present(await readJson(request, bulkSetTagsBody));
            return wanted === undefined
              ? engine.bulkSetTags(chosen, tags ?? [])
              : engine.bulkSetTags({ ...chosen, tags }, wanted);
          }),
        ),
      },
    ],
  ];
  const patterns = table.map(([pattern, methods]) => ({
    expression: new RegExp(`^${pattern.replaceAll(/:\w+/g, '([^/]+)')}/?$`),
    methods,
  }));
  return {
    find(path) {
      for (const { expression, methods } of patterns) {
        const match = expression.exec(path);
        if (match !== null) return { methods, captures: match.slice(1) };
      }
      return undefined;
    },
  };
}

async function search({ engine, request, signal }: RouteCall, bytesMax: number): Promise<unknown> {
  const asked = present(await readJson(request, searchBody));
  return boundedSearch(await engine.search(asked, { signal }), asked.offset ?? 0, bytesMax);
}

async function documents({ engine, query, signal }: RouteCall, bytesMax: number): Promise<unknown> {
  const request = {
    type: readText(query, 'type') ?? readText(query, 'doc_type'),
    tags: readList(query, 'tags'),
    source_path: readText(query, 'source_path'),
    query: readText(query, 'query'),
  };
  return boundedPage('documents', query, bytesMax, (page) => engine.documents({ ...request, ...page }, { signal }));
}

/** An id that is not a number matches no document. */
function documentId([given = '']: readonly string[]): number {
  const id = /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (id > 0) return id;
  throw new CarrelError('document_not_found', 'No document has this id: ids are numbers.');
}

type Present<Given> = { [Key in keyof Given]: Exclude<Given[Key], null> };

/** Clients send null for what they omit. */
function present<Given extends Record<string, unknown>>(given: Given): Present<Given> {
  const entries = Object.entries(given).map(([key, value]) => [key, value ?? undefined]);
  return Object.fromEntries(entries) as Present<Given>;
}

async function refused(byServer: boolean): Promise<void> {
  const who = byServer ? 'This engine runs with --read-only' : 'This token is for reading only';
  throw new CarrelError('tool_disabled', `${who}, so nothing can be changed.`);
}
