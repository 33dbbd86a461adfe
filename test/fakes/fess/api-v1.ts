import { randomUUID } from 'node:crypto';
import { identify, visibleLabels } from './callers.ts';
import type { FessAnswer, FessRequest, FessState } from './fess-state.ts';
import { searchAnswer, searchHit } from './search-answer.ts';
import { BadRequestError, emptyPage, SwallowedError, searchIndex } from './search-index.ts';
import { popularWords, suggest } from './suggest-index.ts';

/** Answers `/api/v1` as Fess 15.4 does, and its plugin since 15.7. The root is a search; unknown endpoints get 404. */
export function answerV1(state: FessState, request: FessRequest): FessAnswer {
  const [endpoint = 'documents', subpath] = request.path
    .split('/')
    .filter((part) => part !== '')
    .slice(2);
  if (request.method !== 'GET') return json(405, { message: `${request.method} is not allowed.` });
  switch (endpoint.toLowerCase()) {
    case 'health':
      return health(state);
    case 'documents':
      return withPermissions(state, request, subpath === 'all' ? scroll : search);
    case 'labels':
      return withPermissions(state, request, labels);
    case 'suggest-words':
      return withPermissions(state, request, suggestWords);
    case 'popular-words':
      return withPermissions(state, request, popular);
    case 'favorites':
      return json(400, { message: 'Unsupported operation.' });
    default:
      return json(404, { message: 'Not found.' });
  }
}

type Endpoint = (state: FessState, request: FessRequest, permissions: ReadonlySet<string>) => FessAnswer;

function withPermissions(state: FessState, request: FessRequest, endpoint: Endpoint): FessAnswer {
  const caller = identify(request.headers, state.tokens);
  if ('refused' in caller) {
    return { ...failure(state, 401), headers: { 'www-authenticate': `Bearer error="${caller.refused}"` } };
  }
  return endpoint(state, request, caller.permissions);
}

function search(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  const answer = (page: ReturnType<typeof emptyPage>) => json(200, searchAnswer(page, answerSettings(state)));
  if (state.health === 'down') {
    return state.outage === 'empty' ? answer(emptyPage(params)) : failure(state, state.outage);
  }
  try {
    return answer(searchIndex(state.documents, params, permissions, state));
  } catch (error) {
    if (error instanceof BadRequestError) return failure(state, 400);
    if (error instanceof SwallowedError) return answer(emptyPage(params));
    throw error;
  }
}

/** Like Fess, writes all fetched fields, not only the requested ones, and on a failure just ends the stream. */
function scroll(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (!state.scroll) return json(400, { message: 'Scroll Search is not available.' });
  if (state.health === 'down') return failure(state, 500);
  const lines: string[] = [];
  for (let start = 0; start < 10_000; start += 100) {
    const window = new URLSearchParams(params);
    window.set('start', String(start));
    window.set('num', '100');
    const page = searchIndex(state.documents, window, permissions, state);
    for (const hit of page.hits) {
      const fields = searchHit(hit, { ...page, terms: [] }, { additionalFields: ['lang'], is157OrLater: true });
      lines.push(`${writeJson({ ...fields, _version: -1, _seq_no: -2, _primary_term: 0 })}\n`);
    }
    if (page.hits.length < 100) break;
  }
  return { status: 200, contentType: 'application/x-ndjson; charset=UTF-8', body: lines.join('') };
}

function labels(state: FessState, { headers }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  const data = visibleLabels(state.labels, permissions, headers);
  return json(200, data.length === 0 ? { record_count: 0 } : { record_count: data.length, data });
}

function suggestWords(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (state.health === 'down' || !params.has('q')) return failure(state, 500);
  const { total, words } = suggest(state.words, params, permissions, 'field');
  const head = { query_time: 3, record_count: total, page_size: words.length };
  return json(200, words.length === 0 ? head : { ...head, data: words });
}

/** Lists popular words. Like Fess, returns an empty list if the search engine is down. */
function popular(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (!state.popularWordsEnabled) return json(400, { message: 'Unsupported operation.' });
  const data = state.health === 'down' ? [] : popularWords(state.words, params, permissions);
  return json(200, { record_count: data.length, data });
}

function health(state: FessState): FessAnswer {
  if (state.health === 'down') return failure(state, 500);
  return json(state.health === 'red' ? 503 : 200, { data: { status: state.health, timed_out: false } });
}

/** Returns an error. In Fess up to 15.6, the key of the error id ends in a colon. */
function failure(state: FessState, status: number): FessAnswer {
  return json(status, { [state.is157OrLater ? 'error_code' : 'error_code:']: randomUUID() });
}

function answerSettings(state: FessState) {
  return { additionalFields: state.additionalFields, is157OrLater: state.is157OrLater };
}

function json(status: number, value: unknown): FessAnswer {
  return { status, contentType: 'application/json; charset=UTF-8', body: writeJson(value) };
}

/** Writes JSON as v1 does: `/` becomes `\/`, and everything outside ASCII `\uXXXX`. */
function writeJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(
      /[\u0080-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    );
}
