import { CarrelError } from '../../../base/errors.ts';
import { isWithinLabel } from '../answer-guard.ts';
import { guardDocId, guardLabel } from '../parameter-guard.ts';
import { askFess, type FessServer, ruleOutOutage } from './ask-fess.ts';
import type { FessCallOptions, FessDocument, FessSearchRequest } from './fess-api.ts';
import { faultOf, fessError } from './fess-errors.ts';
import { type ParsedSearchAnswer, readSearchAnswer } from './read-search-answer.ts';
import { queryTooLong, type SearchParameters, searchParameters, strictSearchParameters } from './search-parameters.ts';

/**
 * Searches, and returns only results that are proven to have the label.
 *
 * If a search finds little, a server with `query.orsearch.min.hit.count` repeats it with OR between all parts, which makes
 * label and query optional. If an answer has such results, the search is repeated in a strict form that requires both.
 */
export async function searchInLabel(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ParsedSearchAnswer> {
  if (server.treatsLabelAsOptional) return searchStrict(server, request, options);
  const found = await searchAndCount(server, request, options);
  const isLabelApplied = allHaveLabel(found, request.label);
  if (isLabelApplied && (found.matching === undefined || found.matching >= found.total)) return found;
  const strict = await searchStrict(server, request, options);
  // Equal totals mean that the server did not make the query optional, and `matching` is below `total` for another reason.
  if (!isLabelApplied || strict.total !== found.total) {
    server.treatsLabelAsOptional = true;
    server.onLabelOptional();
  }
  return strict;
}

/** Searches and counts the matches in one request. If they can't be counted, prefers the strict form. */
async function searchAndCount(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ParsedSearchAnswer> {
  const counted = searchParameters(request, true);
  if (counted.counts.matching === undefined)
    return attempt(server, request, strictSearchParameters(request) ?? counted, options);
  try {
    return await attempt(server, request, counted, options);
  } catch (error) {
    // Fess repairs a query that its search engine rejects, but not a facet query. So the query is sent again without counting.
    if (faultOf(error) !== 'refused_request') throw error;
    return attempt(server, request, searchParameters(request), options);
  }
}

/** Searches in a form that requires query and label under any default operator. */
async function searchStrict(
  server: FessServer,
  request: FessSearchRequest,
  options?: FessCallOptions,
): Promise<ParsedSearchAnswer> {
  const parameters = strictSearchParameters(request);
  if (parameters === undefined) throw queryTooLong(request.label);
  const found = await attempt(server, request, parameters, options);
  if (allHaveLabel(found, request.label)) return found;
  throw labelNotApplied(server, found.searchQuery);
}

/** `cause` is for the log. */
function labelNotApplied({ dialect }: FessServer, cause: string | undefined): CarrelError {
  return fessError('label_not_applied', { endpoint: dialect.search, httpStatus: 200, cause });
}

async function attempt(
  server: FessServer,
  request: FessSearchRequest,
  parameters: SearchParameters,
  options?: FessCallOptions,
): Promise<ParsedSearchAnswer> {
  const endpoint = server.dialect.search;
  const { body, httpStatus } = await askFess(server, endpoint, parameters.params, options);
  const found = readSearchAnswer(body, parameters, request);
  if (found === null) throw fessError('unexpected_shape', { endpoint, httpStatus });
  if (found.total === 0) found.answer.isOutageRuledOut = await ruleOutOutage(server, endpoint, options);
  return found;
}

/** Returns true if everything in the answer has the label. Checks pages without hits too, because totals reveal documents. */
function allHaveLabel(found: ParsedSearchAnswer, label: string): boolean {
  return found.total === 0 || isWithinLabel(found, label);
}

/** Finds the document with this id, if it has the label. */
export async function findDocument(
  server: FessServer,
  docId: string,
  label: string,
  options?: FessCallOptions,
): Promise<FessDocument> {
  const request = { label: guardLabel(label), query: `doc_id:"${guardDocId(docId)}"`, num: 1 };
  const found = await searchInLabel(server, request, options);
  const hit = found.answer.hits.find((candidate) => candidate.docId === docId);
  if (hit === undefined) {
    const message =
      'There is no such document in this knowledge domain. Ids change when Fess crawls again: search for it again.';
    throw new CarrelError('resource_not_found', message, { data: { docId } });
  }
  return { ...hit, label: request.label, queryId: found.queryId, requestedTime: found.requestedTime };
}
