import type { EngineCall, EngineSearch } from './engine.ts';
import type { EngineSettings } from './engine-slice.ts';
import { fault, readDocType, readTags } from './given.ts';
import type { DocumentSearch } from './local/search-documents.ts';

const topMax = 100;
const neighboursMax = 5;
const queryCharsMax = 10_000;

/** A search as it is asked for, with its defaults and within its bounds. */
export function searchOf(request: EngineSearch, settings: EngineSettings, options: EngineCall = {}): DocumentSearch {
  const { query, top = settings.defaultTop, threshold, neighbours = 0 } = request;
  if (query.trim() === '') throw fault('query must hold at least one word');
  if (query.length > queryCharsMax) throw fault(`query must have at most ${queryCharsMax} characters`);
  if (!Number.isInteger(top) || top < 1 || top > topMax) throw fault(`top must be a whole number from 1 to ${topMax}`);
  if (!Number.isInteger(neighbours) || neighbours < 0 || neighbours > neighboursMax) {
    throw fault(`neighbours must be a whole number from 0 to ${neighboursMax}`);
  }
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1)) {
    throw fault('threshold must be a number from 0 to 1');
  }
  if (request.fts_only && request.vec_only) throw fault('fts_only and vec_only exclude each other');
  return {
    query,
    top,
    tags: readTags(request.tags ?? []),
    docType: readDocType(request.doc_type),
    mode: request.fts_only ? 'words' : request.vec_only ? 'meaning' : 'hybrid',
    threshold,
    neighbours,
    signal: options.signal ?? new AbortController().signal,
  };
}
