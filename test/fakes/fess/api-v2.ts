import { identify, visibleLabels } from './callers.ts';
import type { FessAnswer, FessRequest, FessState } from './fess-state.ts';
import { searchAnswer, searchHit } from './search-answer.ts';
import { BadRequestError, emptyPage, mayRead, SwallowedError, searchIndex } from './search-index.ts';
import { popularWords, suggest } from './suggest-index.ts';
import { cachePage } from './web-pages.ts';

/** Answers `/api/v2` as Fess 15.8 does: everything is under `response`, and errors have a code and a message. */
export function answerV2(state: FessState, request: FessRequest): FessAnswer {
  const [endpoint = '', subpath] = request.path
    .split('/')
    .filter((part) => part !== '')
    .slice(2);
  if (request.method !== 'GET') return failure(405, 'method_not_allowed', 'method not allowed');
  if ([...request.params.values()].some((value) => value.length > 1000))
    return failure(400, 'invalid_request', 'too long');
  switch (endpoint) {
    case 'health':
      return health(state);
    case 'search':
      return withPermissions(state, request, search);
    case 'documents':
      return subpath === 'all' ? withPermissions(state, request, scroll) : failure(404, 'not_found', 'not found');
    case 'labels':
      return withPermissions(state, request, labels);
    case 'suggest-words':
      return withPermissions(state, request, suggestWords);
    case 'popular-words':
      return withPermissions(state, request, popular);
    case 'cache':
      return withPermissions(state, request, (...args) => cache(subpath ?? '', ...args));
    default:
      return failure(404, 'not_found', 'not found');
  }
}

type Endpoint = (state: FessState, request: FessRequest, permissions: ReadonlySet<string>) => FessAnswer;

function withPermissions(state: FessState, request: FessRequest, endpoint: Endpoint): FessAnswer {
  const caller = identify(request.headers, state.tokens);
  if ('refused' in caller) {
    const status = state.wrongTokenStatus;
    return failure(status, status === 401 ? 'auth_required' : 'internal_error', caller.refused);
  }
  return endpoint(state, request, caller.permissions);
}

function search(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  const answer = (page: ReturnType<typeof emptyPage>) => {
    const settings = { additionalFields: state.additionalFields, is157OrLater: true };
    return success({ ...searchAnswer(page, settings), exec_time: '0.04' });
  };
  if (/^(-\d+|0+)$/.test(params.get('num') ?? '')) return failure(400, 'invalid_request', 'num must be positive');
  if (state.health === 'down')
    return state.outage === 'empty' ? answer(emptyPage(params)) : engineFailure(state.outage);
  try {
    return answer(searchIndex(state.documents, params, permissions, state));
  } catch (error) {
    // In 15.7 and 15.8, this message leaks the serialized query with the caller's roles.
    if (error instanceof BadRequestError) return failure(400, 'invalid_request', leakyMessage(params));
    if (error instanceof SwallowedError) return answer(emptyPage(params));
    throw error;
  }
}

function scroll(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (!state.scroll) return failure(400, 'invalid_request', 'scroll search is not available');
  const lines: string[] = [];
  const window = new URLSearchParams(params);
  window.set('num', '100');
  const page = searchIndex(state.documents, window, permissions, state);
  for (const hit of page.hits) {
    const data = searchHit(hit, { ...page, terms: [] }, { additionalFields: [], is157OrLater: true });
    lines.push(`${JSON.stringify({ data })}\n`);
  }
  return { status: 200, contentType: 'application/x-ndjson; charset=UTF-8', body: lines.join('') };
}

function labels(state: FessState, { headers }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  const found = visibleLabels(state.labels, permissions, headers);
  return success({ record_count: found.length, labels: found });
}

/** Lists suggestions. In v2, a suggestion has `types` where v1 has labels. */
function suggestWords(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (state.health === 'down') return engineFailure(500);
  const { total, words } = suggest(state.words, params, permissions, 'fn');
  return success({
    q: params.get('q') ?? '',
    page_size: words.length,
    record_count: total,
    query_time: 3,
    suggest_words: words.map(({ text, labels: types }) => ({ text, types })),
  });
}

function popular(state: FessState, { params }: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (!state.popularWordsEnabled) return failure(400, 'invalid_request', 'unsupported operation');
  const words = state.health === 'down' ? [] : popularWords(state.words, params, permissions);
  return success({ record_count: words.length, popular_words: words });
}

/** Returns the cached page. Like Fess, checks no label, so anybody who knows an id can read the page. */
function cache(docId: string, state: FessState, _request: FessRequest, permissions: ReadonlySet<string>): FessAnswer {
  if (!/^[A-Za-z0-9_-]+$/.test(docId)) return failure(400, 'invalid_request', 'invalid doc_id');
  const document = state.documents.find((candidate) => candidate.docId === docId && mayRead(candidate, permissions));
  if (document === undefined) return failure(404, 'not_found', `doc not found: ${docId}`);
  if (document.cachedHtml === undefined) return failure(404, 'not_found', `no cache for: ${docId}`);
  return success({
    doc_id: docId,
    mimetype: 'text/html',
    content: cachePage(document),
    url: document.url,
    created: document.created,
    charset: 'UTF-8',
  });
}

/** Returns the health as v2 does: in upper case, and without v1's `timed_out`. */
function health(state: FessState): FessAnswer {
  if (state.health === 'down') return engineFailure(500);
  const engine = { status: state.health.toUpperCase(), ping_status: state.health === 'red' ? 1 : 0 };
  if (state.health !== 'red') return success({ engine });
  return failure(503, 'service_unavailable', 'search engine cluster is red', { engine });
}

function engineFailure(status: 400 | 500): FessAnswer {
  return failure(status, status === 500 ? 'internal_error' : 'invalid_request', 'engine failure');
}

function leakyMessage(params: URLSearchParams): string {
  return `Invalid query: {"bool":{"must":[{"query_string":"${params.get('q') ?? ''}"}],"filter":{"term":{"role":"Rguest"}}}} on opensearch-0.internal:9201`;
}

function success(payload: Record<string, unknown>): FessAnswer {
  return json(200, { response: { status: 0, ...payload } });
}

function failure(status: number, code: string, message: string, details?: unknown): FessAnswer {
  const error = details === undefined ? { code, message } : { code, message, details };
  return json(status, { response: { status: status >= 500 ? 9 : 1, error } });
}

function json(status: number, value: unknown): FessAnswer {
  return { status, contentType: 'application/json; charset=UTF-8', body: JSON.stringify(value) };
}
