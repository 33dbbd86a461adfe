import { isObject } from '../../base/json.ts';
import type {
  BulkOutcome,
  DeletedDocument,
  EngineChunk,
  EngineDocument,
  EngineDocumentWithChunks,
  EngineHit,
  EngineJob,
  EngineSearchAnswer,
  EngineStatus,
  JobId,
  JobProgress,
  SubmitOutcome,
  TagCount,
  Truncation,
} from '../engine.ts';
import { type Loose, looseId, looseList, looseNumber, looseObject, looseTags, looseText } from './loose.ts';

/*
 * Converts the answers of an engine that may not be ours to our shapes. The readers return undefined for an answer that
 * makes no sense, and the caller reports it.
 */

/** The query string of the request that goes on, where an engine of ours has left out what did not fit. */
export function readNext(value: unknown): URLSearchParams | undefined {
  const next = looseText(looseObject(value)['next']);
  return next?.startsWith('?') ? new URLSearchParams(next) : undefined;
}

export function readStatus(value: unknown): EngineStatus | undefined {
  if (!isObject(value)) return undefined;
  const queue = looseObject(value['queue'] ?? value['jobs'] ?? value['queue_state']);
  return {
    ...value,
    version: looseText(value['version']) ?? looseText(value['engine_version']) ?? 'unknown',
    model: readModel(value),
    device: looseText(value['device']) ?? 'unknown',
    documents: countOf(value, 'documents'),
    chunks: countOf(value, 'chunks'),
    collections: countOf(value, 'collections'),
    queue: {
      queued: looseNumber(queue['queued'] ?? queue['pending']) ?? 0,
      processing: looseNumber(queue['processing'] ?? queue['running']) ?? 0,
      done: looseNumber(queue['done'] ?? queue['completed']) ?? 0,
      failed: looseNumber(queue['failed']) ?? 0,
    },
    storage: readStorage(value['storage']),
  };
}

function readModel(value: Loose): EngineStatus['model'] {
  const given = value['model'] ?? value['model_name'] ?? value['embedding_model'];
  const model = isObject(given) ? given : { name: given };
  const name = looseText(model['name']) ?? looseText(model['model']);
  const dimensions = looseNumber(model['dimensions'] ?? model['dimension'] ?? value['dimensions']);
  return name === null ? null : { name, dimensions };
}

/** `{documents: 3}`, `{documents: {total: 3}}`, `{document_count: 3}`, `{counts: {documents: 3}}`. */
function countOf(value: Loose, name: string): number {
  const singular = `${name.slice(0, -1)}_count`;
  const places = [value, looseObject(value['counts']), looseObject(value['stats'])];
  const given = places.flatMap((place) => [place[name], place[singular], place[`${name}_count`]]);
  const counts = given.map((each) => looseNumber(isObject(each) ? (each['total'] ?? each['count']) : each));
  return counts.find((count) => count !== null) ?? 0;
}

function readStorage(value: unknown): EngineStatus['storage'] {
  const storage = looseObject(value);
  const { keeps_deleted: keeps } = storage;
  return {
    backend: looseText(storage['backend']) ?? 'unknown',
    bytes: looseNumber(storage['bytes']) ?? 0,
    ...(typeof keeps === 'boolean' ? { keeps_deleted: keeps } : {}),
  };
}

export function readSearch(value: unknown, query: string): EngineSearchAnswer | undefined {
  const found = looseList(value, ['results', 'hits']);
  if (found === undefined) return undefined;
  const results = found.map(readHit);
  const envelope = isObject(value) ? value : {};
  const degraded = looseText(envelope['degraded']);
  return {
    query,
    results,
    total_matches: looseNumber(envelope['total_matches'] ?? envelope['total']) ?? results.length,
    returned: results.length,
    ...readJudged(envelope),
    ...(degraded === null ? {} : { degraded }),
  };
}

function readJudged(envelope: Loose): Pick<EngineSearchAnswer, 'weak_omitted' | 'reranking'> {
  const [omitted, reranking] = [looseNumber(envelope['weak_omitted']), looseObject(envelope['reranking'])];
  const state = rerankingStates.find((each) => each === reranking['state']);
  const reason = looseText(reranking['reason']);
  return {
    ...(omitted === null || omitted <= 0 ? {} : { weak_omitted: omitted }),
    ...(state === undefined ? {} : { reranking: { state, ...(reason === null ? {} : { reason }) } }),
  };
}

const rerankingStates = ['applied', 'off', 'failed'] as const;

function readHit(hit: Loose): EngineHit {
  // Older engines nest the fields of the document.
  const source = { ...looseObject(hit['source'] ?? hit['document']), ...hit };
  const neighbours = looseList(hit['neighbours'], [])?.map((each) => ({
    chunk_index: looseNumber(each['chunk_index']) ?? 0,
    text: looseText(each['text']) ?? '',
  }));
  const why = hit['why'];
  const relevance = looseNumber(hit['relevance']);
  return {
    document_id: looseId(source['document_id'] ?? source['doc_id']),
    chunk_id: readId(hit['chunk_id'] ?? hit['id']) ?? '',
    score: looseNumber(hit['score']) ?? 0,
    ...(relevance === null ? {} : { relevance }),
    text: looseText(hit['text'] ?? hit['content']) ?? '',
    chunk_index: looseNumber(hit['chunk_index']) ?? 0,
    chunk_metadata: looseObject(hit['chunk_metadata'] ?? hit['metadata']),
    title: looseText(source['title']) ?? '',
    doc_type: looseText(source['doc_type']) ?? 'unknown',
    source_path: looseText(source['source_path']),
    created_at: looseText(source['created_at']) ?? '',
    tags: looseTags(source['tags'] ?? source['tags_json']),
    ...readTruncated(source),
    ...(isObject(why) ? { why: { ...why } } : {}),
    ...(neighbours === undefined ? {} : { neighbours }),
  };
}

export function readSubmitted(value: unknown, filename: string): SubmitOutcome | undefined {
  const answer = looseObject(value);
  const id = readId(answer['job_id'] ?? answer['id']);
  if (id === undefined) return undefined;
  return {
    accepted: true,
    job_id: id,
    status: looseText(answer['status']) ?? 'queued',
    filename: looseText(answer['filename']) ?? filename,
  };
}

/** 409 with the existing document or job; FastAPI puts it below `detail`. */
export function readDuplicate(value: unknown): SubmitOutcome | undefined {
  const answer = isObject(value) && isObject(value['detail']) ? value['detail'] : looseObject(value);
  const documentId = looseId(answer['document_id']);
  const jobId = readId(answer['job_id']);
  if (documentId === null && jobId === undefined) return undefined;
  return {
    accepted: false,
    ...(documentId === null ? {} : { document_id: documentId }),
    ...(jobId === undefined ? {} : { job_id: jobId }),
    title: looseText(answer['title']),
  };
}

export function readJob(value: unknown): EngineJob | undefined {
  const job = isObject(value) && isObject(value['job']) ? value['job'] : looseObject(value);
  const id = readId(job['id'] ?? job['job_id']);
  if (id === undefined) return undefined;
  const kind = looseText(job['kind']);
  return {
    id,
    ...(kind === null ? {} : { kind }),
    filename: looseText(job['filename']),
    status: looseText(job['status']) ?? 'unknown',
    progress: readProgress(job['progress']),
    error: looseText(job['error']),
    document_id: looseId(job['document_id']),
    chunk_count: looseNumber(job['chunk_count']),
    ...readTruncated(job),
    ...readPending(job),
    created_at: looseText(job['created_at']) ?? '',
    updated_at: looseText(job['updated_at'] ?? job['completed_at'] ?? job['finished_at']),
  };
}

function readProgress(value: unknown): JobProgress | null {
  if (!isObject(value)) return null;
  const done = looseNumber(value['done']);
  const total = looseNumber(value['total']);
  return {
    phase: looseText(value['phase']) ?? 'unknown',
    ...(done === null ? {} : { done }),
    ...(total === null ? {} : { total }),
  };
}

export function readDocument(value: unknown): EngineDocumentWithChunks | undefined {
  const outer = looseObject(value);
  const document = isObject(outer['document']) ? { ...outer['document'], chunks: outer['chunks'] } : outer;
  const id = looseId(document['id'] ?? document['document_id']);
  if (id === null) return undefined;
  const inner = isObject(outer['document']) ? outer['document']['chunks'] : undefined;
  const chunks = (looseList(document['chunks'] ?? inner, []) ?? []).map(readChunk);
  const left = looseNumber(outer['chunks_left']) ?? 0;
  return { ...documentFields(document, id), chunks, ...(left > 0 ? { chunks_left: left } : {}) };
}

export function readListed(value: Loose): EngineDocument | undefined {
  const id = looseId(value['id'] ?? value['document_id']);
  return id === null ? undefined : documentFields(value, id);
}

function documentFields(value: Loose, id: number): EngineDocument {
  const hasFile = value['has_file'];
  return {
    id,
    title: looseText(value['title']) ?? '',
    doc_type: looseText(value['doc_type'] ?? value['type']) ?? 'unknown',
    tags: looseTags(value['tags'] ?? value['tags_json']),
    source_path: looseText(value['source_path']),
    content_hash: looseText(value['content_hash']),
    language: looseText(value['language']),
    chunk_count: looseNumber(value['chunk_count']),
    has_file: typeof hasFile === 'boolean' ? hasFile : null,
    ...readTruncated(value),
    ...readPending(value),
    created_at: looseText(value['created_at']) ?? '',
    updated_at: looseText(value['updated_at']),
  };
}

function readTruncated({ truncated }: Loose): { truncated?: Truncation } {
  if (!isObject(truncated)) return {};
  const [reason, unit] = [looseText(truncated['reason']), looseText(truncated['unit'])];
  const read = looseNumber(truncated['read']);
  if (reason === null || read === null) return {};
  return { truncated: { reason, read, of: looseNumber(truncated['of']), ...(unit === null ? {} : { unit }) } };
}

function readPending(value: Loose): { pending?: number } {
  const pending = looseNumber(value['pending']);
  return pending === null || pending <= 0 ? {} : { pending };
}

function readChunk(value: Loose, index: number): EngineChunk {
  return {
    id: readId(value['id'] ?? value['chunk_id']) ?? index,
    chunk_index: looseNumber(value['chunk_index'] ?? value['index']) ?? index,
    text: looseText(value['text'] ?? value['content'] ?? value['preview']) ?? '',
    chunk_metadata: looseObject(value['chunk_metadata'] ?? value['metadata']),
  };
}

/** `[{tag, count}]`, `[{name, count}]`, `{tags: …}`, `{"a": 3}`. */
export function readTags(value: unknown): TagCount[] | undefined {
  const listed = looseList(value, ['tags']);
  const pairs = listed
    ? listed.map((each) => [looseText(each['tag'] ?? each['name']), looseNumber(each['count'])] as const)
    : Object.entries(looseObject(looseObject(value)['tags'] ?? value)).map(
        ([tag, count]) => [tag, looseNumber(count)] as const,
      );
  if (listed === undefined && !isObject(value)) return undefined;
  return pairs.flatMap(([tag, count]) => (tag === null ? [] : [{ tag, count: count ?? 0 }]));
}

/** An object, null, or an empty answer with 204. Anything else is not an engine and may have deleted nothing. */
export function readDeleted(value: unknown, status: number, id: number): DeletedDocument | undefined {
  if (!isObject(value) && value !== null && status !== 204) return undefined;
  return { status: 'deleted', document_id: id, title: looseText(looseObject(value)['title']) ?? '' };
}

export function readBulk(value: unknown): BulkOutcome | undefined {
  if (!isObject(value)) return undefined;
  const changed = looseNumber(
    value['changed'] ?? value['deleted'] ?? value['updated'] ?? value['affected'] ?? value['matched'],
  );
  // Reporting that nothing was changed would be a guess.
  if (changed === null) return undefined;
  return {
    matched: looseNumber(value['matched']) ?? changed,
    total: looseNumber(value['total']) ?? 0,
    changed,
    job_id: readId(value['job_id']) ?? '',
  };
}

function readId(value: unknown): JobId | undefined {
  if (typeof value === 'string' && value !== '' && value.length <= 200) return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
