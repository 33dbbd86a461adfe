import { rounded, shortHash } from '../../../answers/explain.ts';
import type { EngineDocument, EngineHit, EngineJob } from '../../../engine/engine.ts';
import { type Origin, originField, originOfSources } from '../../../tools/origin.ts';
import { looseOutput } from '../../../tools/tool.ts';
import { splitTags } from '../inputs/collections.ts';

/* Functions that convert the engine's data to answers. They list the fields, because an engine may send more. */

export const documentUriPrefix = 'carrel://kb/doc/';

export function showHit(hit: EngineHit) {
  const { document_id: id, neighbours, relevance } = hit;
  const { collection, tags } = splitTags(hit.tags);
  return {
    ...(id === null ? {} : { document_id: id }),
    chunk_id: hit.chunk_id,
    chunk_index: hit.chunk_index,
    // A remote engine may not report relevance.
    ...(relevance === undefined ? { score: rounded(hit.score) } : { relevance }),
    title: hit.title,
    text: hit.text,
    ...chunkMetadataField(hit),
    ...(hit.doc_type === '' ? {} : { doc_type: hit.doc_type }),
    ...(hit.source_path ? { source_path: hit.source_path } : {}),
    ...originField(originOfDocument(hit)),
    ...(hit.created_at === '' ? {} : { created_at: hit.created_at }),
    ...(collection === null ? {} : { collection }),
    tags,
    ...(hit.truncated === undefined ? {} : { truncated: hit.truncated }),
    ...(neighbours === undefined || neighbours.length === 0 ? {} : { neighbours }),
  };
}

/** Returns page, section or lines. Omits the lines of notes, which are not useful. */
function chunkMetadataField({ doc_type: type, chunk_metadata: metadata }: EngineHit) {
  const { line_start: _start, line_end: _end, ...withoutLines } = metadata;
  const shown = type === 'note' ? withoutLines : metadata;
  return Object.keys(shown).length === 0 ? {} : { chunk_metadata: shown };
}

/** Adds the fields for `explain`, including those for the tool `verify`. */
export function explainHit(hit: EngineHit) {
  return {
    ...showHit(hit),
    ...(hit.document_id === null ? {} : { uri: `${documentUriPrefix}${hit.document_id}` }),
    score: rounded(hit.score),
    ...(hit.content_hash == null ? {} : { hash: shortHash(hit.content_hash) }),
    // Relative to the chunk's text, as `verify` expects.
    range: [0, hit.text.length] as [number, number],
    ...(hit.why === undefined ? {} : { why: rounded(hit.why) }),
  };
}

export type ShownHit = ReturnType<typeof showHit> & { range?: [number, number] };

export function showDocument(document: EngineDocument) {
  return {
    document_id: document.id,
    id: document.id,
    uri: `${documentUriPrefix}${document.id}`,
    title: document.title,
    doc_type: document.doc_type,
    ...splitTags(document.tags),
    source_path: document.source_path,
    ...originField(originOfDocument(document)),
    language: document.language,
    content_hash: document.content_hash == null ? null : shortHash(document.content_hash),
    chunk_count: document.chunk_count,
    has_file: document.has_file,
    ...incompleteFields(document),
    created_at: document.created_at,
    updated_at: document.updated_at,
  };
}

/** Returns the origin: `web` if `source_path` is a URL, else `user` for a note and `file` for all others. */
export function originOfDocument({ doc_type, source_path }: Pick<EngineDocument, 'doc_type' | 'source_path'>): Origin {
  return originOfSources([source_path], doc_type === 'note' ? 'user' : 'file');
}

/** Returns the fields about missing or unprocessed parts of a document. */
export function incompleteFields({ truncated, pending }: Pick<EngineDocument, 'truncated' | 'pending'>) {
  return { ...(truncated === undefined ? {} : { truncated }), ...(pending === undefined ? {} : { pending }) };
}

export const documentFields =
  'document_id, id, uri, title, doc_type, collection, tags, source_path, origin?, language, content_hash, chunk_count, has_file, truncated?, pending?, created_at, updated_at';

/** Output of tools that return a document. The fields are described only in kb_get, to save tokens. */
export const documentOutput = looseOutput('some fields of kb_get');

const errorCharsMax = 500;

export function showJob(job: EngineJob) {
  return {
    job_id: job.id,
    id: job.id,
    ...(job.kind === undefined ? {} : { kind: job.kind }),
    filename: job.filename,
    status: job.status,
    progress: job.progress,
    error: job.error === null ? null : job.error.replace(/\p{Cc}+/gu, ' ').slice(0, errorCharsMax),
    document_id: job.document_id,
    chunk_count: job.chunk_count,
    ...incompleteFields(job),
    ...(job.kind === 'crawl' && job.details?.['summary'] !== undefined ? { summary: job.details['summary'] } : {}),
    created_at: job.created_at,
    updated_at: job.updated_at,
  };
}
