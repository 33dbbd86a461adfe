import { CarrelError } from '../../../base/errors.ts';
import { askFess, askHealth, type FessServer, ruleOutOutage } from './ask-fess.ts';
import type { FessApi, FessCallOptions, FessDocument, FessLabel, FessSuggestion } from './fess-api.ts';
import type { FessClient } from './fess-client.ts';
import { readCachedPage, readOriginal } from './fess-content.ts';
import type { FessDialect } from './fess-dialect.ts';
import { fessError, isRecord } from './fess-errors.ts';
import { strings } from './read-search-answer.ts';
import { popularWordsParameters, suggestParameters } from './search-parameters.ts';
import { lookUp, searchWithin } from './search-within.ts';

export interface FessAdapterDeps {
  /**
   * Remembers the documents that were found within their label: only they may be read, because `/cache` and `/go`
   * themselves check no label.
   */
  lookedUp: WeakSet<FessDocument>;
  /** Called once, when the server treats the label as optional. */
  onLoose: () => void;
}

/** The API of one generation. */
export function createFessAdapter(
  client: FessClient,
  dialect: FessDialect,
  { lookedUp, onLoose }: FessAdapterDeps,
): FessApi {
  const server: FessServer = { client, dialect, isLoose: false, onLoose };
  const assertLookedUp = (document: FessDocument) => {
    if (!lookedUp.has(document)) throw new CarrelError('internal', 'The document was not looked up within its label.');
  };
  return {
    search: async (request, options) => (await searchWithin(server, request, options)).answer,
    suggest: async (request, options) => {
      const params = suggestParameters(request, dialect);
      const found = readSuggestions(
        await getList(server, dialect.suggest, dialect.suggestKey, params, options),
        dialect,
      );
      return found.filter(({ labels }) => labels.length === 0 || labels.includes(request.label));
    },
    popularWords: async (request, options) => {
      const params = popularWordsParameters(request);
      const words = strings(await getList(server, dialect.popularWords, dialect.popularKey, params, options));
      if (words.length === 0) await ruleOutOutage(server, dialect.popularWords, options);
      return words;
    },
    labels: async (options) =>
      readLabels(await getList(server, dialect.labels, dialect.labelsKey, new URLSearchParams(), options)),
    health: (options) => askHealth(server, options),
    document: async (docId, label, options) => {
      const document = await lookUp(server, docId, label, options);
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

/** v1 leaves an empty list out. */
async function getList(
  server: FessServer,
  endpoint: string,
  key: string,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<unknown[]> {
  const { body, httpStatus } = await askFess(server, endpoint, params, options);
  const list = body[key] ?? (typeof body['record_count'] === 'number' ? [] : undefined);
  if (!Array.isArray(list)) throw fessError('unexpected_shape', { endpoint, httpStatus });
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
