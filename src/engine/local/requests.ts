import type { JobListRequest, JobStatus } from '../../storage/contracts/ingestion.ts';
import { type EngineCall, type EngineSearch, type JobsRequest, jobStatuses } from '../engine.ts';
import type { EngineSettings } from '../engine-slice.ts';
import { fault, readDocType, readTags } from '../given.ts';
import type { DocumentSearch } from './search-documents.ts';

const limitDefault = 100;
export const limitMax = 1_000;

/** A page request, checked, with defaults filled in. */
export function pageOf(given: { limit?: number | undefined; offset?: number | undefined }): {
  limit: number;
  offset: number;
} {
  const { limit = limitDefault, offset = 0 } = given;
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw fault(`limit must be a whole number from 1 to ${limitMax}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0) throw fault('offset must be a whole number, 0 or more');
  return { limit, offset };
}

/** Undefined if no job of this engine can match. */
export function jobsOf({ status, ...page }: JobsRequest): JobListRequest | undefined {
  if (status === foreignStatus) return undefined;
  return { ...pageOf(page), status: statusOf(status) };
}

/** The engine in 003 uses it for duplicates; ours answers those with 409. */
const foreignStatus = 'skipped';

function statusOf(given: string | undefined): JobStatus | undefined {
  if (given === undefined || given === '') return undefined;
  const status = jobStatuses.find((each) => each === given);
  if (status === undefined) throw fault(`status must be one of ${jobStatuses.join(', ')}`);
  return status;
}

const topMax = 100;
const neighboursMax = 5;
const queryCharsMax = 10_000;

/** A search request, checked, with defaults filled in. */
export function searchOf(request: EngineSearch, settings: EngineSettings, options: EngineCall = {}): DocumentSearch {
  const { query, top = settings.defaultTop, threshold, neighbours = 0, offset = 0 } = request;
  if (query.trim() === '') throw fault('query must have at least one word');
  if (query.length > queryCharsMax) throw fault(`query must have at most ${queryCharsMax} characters`);
  if (!Number.isInteger(top) || top < 1 || top > topMax) throw fault(`top must be a whole number from 1 to ${topMax}`);
  if (!Number.isInteger(neighbours) || neighbours < 0 || neighbours > neighboursMax) {
    throw fault(`neighbours must be a whole number from 0 to ${neighboursMax}`);
  }
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1)) {
    throw fault('threshold must be a number from 0 to 1');
  }
  if (!Number.isInteger(offset) || offset < 0 || offset >= topMax) {
    throw fault(`offset must be a whole number from 0 to ${topMax - 1}`);
  }
  if (request.fts_only && request.vec_only) throw fault('fts_only and vec_only exclude each other');
  return {
    query,
    top,
    tags: readTags(request.tags ?? []),
    docType: readDocType(request.doc_type),
    mode: request.fts_only ? 'words' : request.vec_only ? 'meaning' : 'hybrid',
    threshold,
    includesWeak: request.include_weak ?? false,
    neighbours,
    offset,
    within: options.within,
    signal: options.signal ?? new AbortController().signal,
  };
}
