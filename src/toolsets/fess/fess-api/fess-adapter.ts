import { CarrelError } from '../../../base/errors.ts';
import { isWithinLabel } from '../answer-guard.ts';
import { guardDocId, guardLabel } from '../parameter-guard.ts';
import type {
  FessApi,
  FessCallOptions,
  FessDocument,
  FessHealth,
  FessLabel,
  FessSearchRequest,
  FessSuggestion,
} from './fess-api.ts';
import type { FessClient } from './fess-client.ts';
import { readCachedPage, readOriginal } from './fess-content.ts';
import type { FessDialect } from './fess-dialect.ts';
import { faultOf, fessError, isRecord } from './fess-errors.ts';
import { jsonObject } from './fess-response.ts';
import { type ReadSearch, readSearchAnswer, strings } from './read-search-answer.ts';
import { popularWordsParameters, searchParameters, suggestParameters } from './search-parameters.ts';

/**
 * The API of one generation. `lookedUp` remembers the documents that were found within their label: only they may be
 * read, because `/cache` and `/go` themselves ask for no label.
 */
export function createFessAdapter(client: FessClient, dialect: FessDialect, lookedUp: WeakSet<FessDocument>): FessApi {
  const adapter: Adapter = { client, dialect };
  const assertLookedUp = (document: FessDocument) => {
    if (!lookedUp.has(document)) throw new CarrelError('internal', 'The document was not looked up within its label.');
  };
  return {
    search: async (request, options) => (await search(adapter, request, options)).answer,
    suggest: async (request, options) => {
      const params = suggestParameters(request, dialect);
      const found = readSuggestions(
        await getList(adapter, dialect.suggest, dialect.suggestKey, params, options),
        dialect,
      );
      return found.filter(({ labels }) => labels.length === 0 || labels.includes(request.label));
    },
    popularWords: async (request, options) => {
      const params = popularWordsParameters(request);
      const words = strings(await getList(adapter, dialect.popularWords, dialect.popularKey, params, options));
      if (words.length === 0) await ruleOutOutage(adapter, options);
      return words;
    },
    labels: async (options) =>
      readLabels(await getList(adapter, dialect.labels, dialect.labelsKey, new URLSearchParams(), options)),
    health: (options) => health(adapter, options),
    document: async (docId, label, options) => {
      const document = await lookUp(adapter, docId, label, options);
      lookedUp.add(document);
      return document;
    },
    cachedPage: async (document, options) => {
      assertLookedUp(document);
      return readCachedPage(client, dialect, document, options);
    },
    original: async (document, options) => {
      assertLookedUp(document);
      return readOriginal(client, document, options);
    },
  };
}

interface Adapter {
  client: FessClient;
  dialect: FessDialect;
}

async function search(adapter: Adapter, request: FessSearchRequest, options?: FessCallOptions): Promise<ReadSearch> {
  const { client, dialect } = adapter;
  const sent = searchParameters(request);
  const endpoint = dialect.search;
  const response = await client.get(endpoint, sent.params, options);
  // After some failures Fess answers 400 for an engine that is down, as it does for a query that it cannot parse.
  if (response.status === 400) await ruleOutOutage(adapter, options);
  const body = dialect.open(jsonObject(response), endpoint);
  const found = readSearchAnswer(body, sent, request.facets);
  if (found === null) throw fessError('unexpected_shape', { endpoint, httpStatus: response.status });
  // Totals and facets tell of documents too, so a page without hits is checked as well.
  if (found.answer.total > 0 && !isWithinLabel(found, request.label)) {
    throw fessError('label_not_applied', { endpoint, httpStatus: response.status, cause: found.searchQuery });
  }
  if (found.answer.total === 0) found.answer.isOutageRuledOut = await ruleOutOutage(adapter, options);
  return found;
}

async function lookUp(
  adapter: Adapter,
  docId: string,
  label: string,
  options?: FessCallOptions,
): Promise<FessDocument> {
  const query = `doc_id:"${guardDocId(docId)}"`;
  const { answer, queryId, requestedTime } = await search(adapter, { label, query, num: 1 }, options);
  const hit = answer.hits.find((candidate) => candidate.docId === docId);
  if (hit === undefined) {
    const message = 'No such document in this knowledge domain. Ids change when Fess crawls again: search for it anew.';
    throw new CarrelError('resource_not_found', message, { data: { docId } });
  }
  return { ...hit, label: guardLabel(label), queryId, requestedTime };
}

/**
 * A Fess without its engine finds nothing and says so with 200; only its health tells the truth. True if the engine is
 * up, false if the server does not let us ask; throws if it is down.
 */
async function ruleOutOutage(adapter: Adapter, options?: FessCallOptions): Promise<boolean> {
  const endpoint = adapter.dialect.health;
  try {
    const { status } = await health(adapter, options);
    if (status !== 'red') return true;
  } catch (error) {
    const fault = faultOf(error);
    if (fault === 'refused_token' || fault === 'refused_address' || fault === 'api_missing') return false;
    if (fault !== 'server_failed') throw error;
    const { httpStatus, errorId } = (error as CarrelError).data as { httpStatus: number; errorId?: string };
    throw fessError('engine_down', { endpoint, httpStatus, errorId, cause: error });
  }
  throw fessError('engine_down', { endpoint, httpStatus: 503 });
}

/** 503 is the answer for red, not a failure. */
async function health({ client, dialect }: Adapter, options?: FessCallOptions): Promise<FessHealth> {
  const endpoint = dialect.health;
  const response = await client.get(endpoint, new URLSearchParams(), options);
  const found = dialect.openHealth(jsonObject(response, [503]));
  const status = isRecord(found) ? found['status'] : undefined;
  if (status === 'green' || status === 'yellow' || status === 'red') {
    return { status, timedOut: isRecord(found) && found['timed_out'] === true };
  }
  const fault = response.status === 503 ? 'server_failed' : 'unexpected_shape';
  throw fessError(fault, { endpoint, httpStatus: response.status });
}

/** v1 leaves the list out where it is empty. */
async function getList(
  { client, dialect }: Adapter,
  endpoint: string,
  key: string,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<unknown[]> {
  const response = await client.get(endpoint, params, options);
  const body = dialect.open(jsonObject(response), endpoint);
  const list = body[key] ?? (typeof body['record_count'] === 'number' ? [] : undefined);
  if (!Array.isArray(list)) throw fessError('unexpected_shape', { endpoint, httpStatus: response.status });
  return list;
}

function readSuggestions(list: readonly unknown[], dialect: FessDialect): FessSuggestion[] {
  return list.flatMap((item) => {
    const text = isRecord(item) ? item['text'] : undefined;
    if (!isRecord(item) || typeof text !== 'string') return [];
    return [{ text, labels: strings(item[dialect.suggestLabelsKey]) }];
  });
}

function readLabels(list: readonly unknown[]): FessLabel[] {
  return list.flatMap((item) => {
    if (!isRecord(item) || typeof item['value'] !== 'string') return [];
    return [{ label: typeof item['label'] === 'string' ? item['label'] : item['value'], value: item['value'] }];
  });
}
