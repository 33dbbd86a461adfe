import { CarrelError } from '../../../base/errors.ts';
import { isWithinLabel } from '../answer-guard.ts';
import { guardDocId, guardLabel } from '../parameter-guard.ts';
import { askFess, type FessServer, ruleOutOutage } from './ask-fess.ts';
import type { FessCallOptions, FessDocument, FessSearchRequest } from './fess-api.ts';
import { faultOf, fessError } from './fess-errors.ts';
import { type ReadSearch, readSearchAnswer } from './read-search-answer.ts';
import { type SearchParameters, searchParameters, strictSearchParameters, strictTooLong } from './search-parameters.ts';

/**
 * Returns only results that are proven to carry the label.
 *
 * If a query finds little, a server with `query.orsearch.min.hit.count` repeats it with OR between all parts, which
 * makes label and query optional. If an answer has results outside the label or query, the search is repeated in a
 * form that no default operator can loosen. Ordinary searches take one request.
 */
export async function searchWithin(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  if (server.isLoose) return searchStrictly(server, request, options);
  const found = await searchPlainly(server, request, options);
  const isWithin = isProved(found, request.label);
  if (isWithin && (found.matching === undefined || found.matching >= found.total)) return found;
  const strict = await searchStrictly(server, request, options);
  // Equal totals mean that the server did not loosen the query: the counts differ for another reason.
  if (!isWithin || strict.total !== found.total) {
    server.isLoose = true;
    server.onLoose();
  }
  return strict;
}

/** Counts the matches in the same request. A query that can't be counted is sent in strict form, if that is short enough. */
async function searchPlainly(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  const counted = searchParameters(request, true);
  if (counted.counts.matching === undefined)
    return attempt(server, request, strictSearchParameters(request) ?? counted, options);
  try {
    return await attempt(server, request, counted, options);
  } catch (error) {
    // Fess repairs a query that its engine rejects, but not a facet query.
    if (faultOf(error) !== 'refused_request') throw error;
    return attempt(server, request, searchParameters(request), options);
  }
}

/** Searches in a form that requires query and label under any default operator. */
async function searchStrictly(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ReadSearch> {
  const sent = strictSearchParameters(request);
  if (sent === undefined) throw strictTooLong(request.label);
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
  const found = readSearchAnswer(body, sent, request);
  if (found === null) throw fessError('unexpected_shape', { endpoint, httpStatus });
  if (found.total === 0) found.answer.isOutageRuledOut = await ruleOutOutage(server, endpoint, options);
  return found;
}

/** Totals and facets reveal documents too, so empty pages are checked as well. */
function isProved(found: ReadSearch, label: string): boolean {
  return found.total === 0 || isWithinLabel(found, label);
}

/** The document with this id. Searching for the id alone proves that the document carries the label. */
export async function lookUp(
  server: FessServer,
  docId: string,
  label: string,
  options?: FessCallOptions,
): Promise<FessDocument> {
  const request = { label: guardLabel(label), query: `doc_id:"${guardDocId(docId)}"`, num: 1 };
  const found = await searchWithin(server, request, options);
  const hit = found.answer.hits.find((candidate) => candidate.docId === docId);
  if (hit === undefined) {
    const message =
      'There is no such document in this knowledge domain. Ids change when Fess crawls again: search for it again.';
    throw new CarrelError('resource_not_found', message, { data: { docId } });
  }
  return { ...hit, label: request.label, queryId: found.queryId, requestedTime: found.requestedTime };
}
