import { CarrelError } from '../../../base/errors.ts';
import { isWithinLabel } from '../answer-guard.ts';
import { guardDocId, guardLabel } from '../parameter-guard.ts';
import { askFess, type FessServer, ruleOutOutage } from './ask-fess.ts';
import type { FessCallOptions, FessDocument, FessSearchRequest } from './fess-api.ts';
import { fessError } from './fess-errors.ts';
import { type ReadSearch, readSearchAnswer } from './read-search-answer.ts';
import { type SearchParameters, searchParameters, strictSearchParameters } from './search-parameters.ts';

/**
 * Searches, and returns only results that are proven to be within the label.
 *
 * A server with `query.orsearch.min.hit.count` repeats a query that finds little with OR between all its parts, the label
 * among them. So if an answer goes beyond the label, the search is repeated in a form that no default operator can
 * loosen. Ordinary searches take one request.
 */
export async function searchWithin(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  const strict = server.isLoose ? strictSearchParameters(request) : undefined;
  const found = await attempt(server, request, strict ?? searchParameters(request), options);
  if (isProved(found, request.label)) return found;
  if (!server.isLoose) server.onLoose();
  server.isLoose = true;
  if (strict !== undefined) throw notApplied(server, found.searchQuery);
  return searchStrictly(server, request, options);
}

/** Whatever the server's default operator is, both the query and the label are required. */
async function searchStrictly(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  const sent = strictSearchParameters(request);
  if (sent === undefined) throw notApplied(server, 'the strict form of the query is too long');
  const found = await attempt(server, request, sent, options);
  if (isProved(found, request.label)) return found;
  throw notApplied(server, found.searchQuery);
}

/** `cause` is for the log. */
function notApplied({ dialect }: FessServer, cause: string | undefined): CarrelError {
  return fessError('label_not_applied', { endpoint: dialect.search, httpStatus: 200, cause });
}

async function attempt(
  server: FessServer,
  request: FessSearchRequest,
  sent: SearchParameters,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  const endpoint = server.dialect.search;
  const { body, httpStatus } = await askFess(server, endpoint, sent.params, options);
  const found = readSearchAnswer(body, sent, request.facets);
  if (found === null) throw fessError('unexpected_shape', { endpoint, httpStatus });
  if (found.total === 0) found.answer.isOutageRuledOut = await ruleOutOutage(server, endpoint, options);
  return found;
}

/** Totals and facets tell of documents too, so a page without hits is checked as well. */
function isProved(found: ReadSearch, label: string): boolean {
  return found.total === 0 || isWithinLabel(found, label);
}

/** The document with this id, proven to carry the label by a search for nothing else. */
export async function lookUp(
  server: FessServer,
  docId: string,
  label: string,
  options?: FessCallOptions,
): Promise<FessDocument> {
  const request = { label: guardLabel(label), query: `doc_id:"${guardDocId(docId)}"`, num: 1 };
  let found = await searchWithin(server, request, options);
  // Ids are unique. More results mean that the server took part of the search as optional, if only within the label.
  if (found.total > 1 && found.outside !== undefined) found = await searchStrictly(server, request, options);
  const hit = found.answer.hits.find((candidate) => candidate.docId === docId);
  if (hit === undefined) {
    const message =
      'No such document in this knowledge domain. Ids change when Fess crawls again: search for it again.';
    throw new CarrelError('resource_not_found', message, { data: { docId } });
  }
  return { ...hit, label: request.label, queryId: found.queryId, requestedTime: found.requestedTime };
}
