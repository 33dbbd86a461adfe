import * as z from 'zod';
import type { Origin } from '../../../tools/origin.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { FessApi, FessHit, FessSearchAnswer } from '../fess-api/fess-api.ts';
import { resultWindow } from '../parameter-guard.ts';
import { createPhases } from '../phases.ts';
import { queryLengthMax } from '../query-guard.ts';

const pageSizeDefault = 20;

export function createSearchTool({ label, pageSizeMax }: { label: string; pageSizeMax: number }, api: FessApi): Tool {
  return defineTool({
    name: 'search',
    title: 'Search documents',
    description:
      'Search the knowledge domain for documents matching a query. Returns summaries; the read tool returns the full text by doc_id. All words are required. Supports "phrases", OR, NOT, (), title:word and prefix*.',
    effect: 'read',
    openWorld: true,
    input: z.object({
      query: z.string().min(1).max(queryLengthMax).describe('Words, or a query in the syntax of Fess.'),
      pageSize: z
        .int()
        .min(1)
        .max(pageSizeMax)
        .default(Math.min(pageSizeDefault, pageSizeMax))
        .describe('How many results.'),
      start: z
        .int()
        .min(0)
        .max(resultWindow - 1)
        .default(0)
        .describe('First result, from 0; nextStart of the previous page.'),
      sort: z.string().max(200).optional().describe('Such as last_modified.desc; default: most relevant first.'),
      lang: z.string().max(20).optional().describe('Such as en.'),
      facets: facetsInput.optional().describe('Count the results by field or query.'),
      geo: z
        .object({
          point: z.string().describe('latitude,longitude'),
          distance: z.string().describe('Such as 10km.'),
        })
        .strict()
        .optional()
        .describe('Only documents near this place.'),
      includeFields: z
        .array(z.string())
        .max(50)
        .optional()
        .describe('Result fields to keep besides doc_id, such as title.'),
    }),
    output: searchOutput,
    async run({ query, pageSize, includeFields, ...options }, call) {
      const phases = createPhases(call);
      const request = { label, query, num: pageSize, ...options };
      const answer = await phases.during('fetching', () => api.search(request, { signal: call.signal }));
      phases.done();
      return {
        query,
        total: answer.total,
        ...(answer.isTotalExact ? {} : { totalIsLowerBound: true }),
        start: answer.start,
        pageSize,
        origin: 'upstream' satisfies Origin,
        results: answer.hits.map((hit) => summary(hit, includeFields)),
        ...(answer.facets === undefined ? {} : { facets: answer.facets }),
        ...(answer.relatedQueries.length === 0 ? {} : { relatedQueries: answer.relatedQueries }),
        ...(answer.nextStart === undefined ? {} : { nextStart: answer.nextStart }),
        ...notice(answer),
        execTimeMs: answer.execTimeMs,
      };
    },
  });
}

const facetsInput = z
  .object({
    field: oneOrMore('Fields to count by, such as filetype, host, label.'),
    query: oneOrMore('Queries whose results to count.'),
    size: z.int().min(1).max(1000).optional(),
    minDocCount: z.int().min(1).optional(),
    sort: z.string().optional(),
    missing: z.string().optional(),
  })
  .strict();

const searchOutput = z.object({
  query: z.string(),
  total: z.number(),
  totalIsLowerBound: z.boolean().optional(),
  start: z.number(),
  pageSize: z.number(),
  origin: z.string(),
  // The caller chooses the other fields.
  results: z.array(z.looseObject({ doc_id: z.string() }).meta({ additionalProperties: true })),
  facets: z.object({ fields: z.array(z.unknown()), queries: z.array(z.unknown()) }).optional(),
  relatedQueries: z.array(z.string()).optional(),
  nextStart: z.number().optional(),
  notice: z.string().optional(),
  execTimeMs: z.number(),
});

/** Accepts a list or a single string, because models often send one name instead of a list. */
function oneOrMore(description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (typeof value === 'string' ? [value] : value))
    .optional()
    .describe(description);
}

/** Returns a hit with the requested fields, or with the default ones. */
function summary(hit: FessHit, includeFields: readonly string[] | undefined): { doc_id: string } {
  const { docId, title, url, digest, score, content, fields } = hit;
  const available: Record<string, unknown> = { title, url, digest, score, content, ...fields };
  const names = (includeFields ?? summaryFields).filter(
    (name) => Object.hasOwn(available, name) && available[name] !== undefined,
  );
  return { doc_id: docId, ...Object.fromEntries(names.map((name) => [name, available[name]])) };
}

/** Default fields, which help to choose a result. */
const summaryFields = [
  'title',
  'url',
  'digest',
  'score',
  'content_description',
  'filetype',
  'content_length',
  'last_modified',
  'created',
];

/** Returns a notice if the answer may be incomplete. */
function notice({ isPartial, isOutageRuledOut }: FessSearchAnswer): { notice?: string } {
  if (isPartial) return { notice: 'Part of the index did not respond: there may be more results.' };
  if (!isOutageRuledOut)
    return { notice: 'Fess does not report whether its search engine is up: no results may mean an outage.' };
  return {};
}
