import * as z from 'zod';

/**
 * The engine's answers. Routes send them, and the client of a remote engine parses answers with these schemas. Fields that a
 * remote engine omits get the defaults here. Only ids are required.
 */

const textOr = (missing: string) => z.string().catch(missing);
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().catch(null);
const orNone = <Schema extends z.ZodType>(schema: Schema) => schema.exactOptional().catch(undefined as never);
const count = z.number().catch(0);
const documentId = z.int().min(0);

/** Carrel's engine uses numbers, others may use text. */
export const jobId = z.union([z.int(), z.string().min(1).max(200)]);

const tags = z.array(z.string()).catch([]);

/** How much of a file's text was read, and why not all of it. */
const truncation = z.object({
  reason: z.string(),
  read: z.number(),
  /** Null if unknown. */
  of: orNull(z.number()),
  unit: orNone(z.string()),
});

/** The location of a chunk in the original file. Lines and pages count from 1. */
const chunkMetadata = z.looseObject({
  page: orNone(z.number()),
  /** From the outermost heading to the nearest, joined with " > ". */
  section_header: orNone(z.string()),
  line_start: orNone(z.number()),
  line_end: orNone(z.number()),
});

/** Number of chunks without vectors, which only keyword search finds. Absent if there are none. */
const pending = orNone(z.number().positive());

export const status = z.looseObject({
  version: textOr('unknown'),
  /** Null without an embedding model. */
  model: orNull(z.object({ name: z.string(), dimensions: orNull(z.number()) })),
  device: textOr('unknown'),
  roles: orNone(z.array(z.string()).readonly()),
  documents: count,
  chunks: count,
  unembedded: orNone(z.number()),
  degraded: orNone(z.string()),
  collections: count,
  queue: z
    .object({ queued: count, processing: count, done: count, failed: count })
    .catch({ queued: 0, processing: 0, done: 0, failed: 0 }),
  storage: z
    .object({
      backend: textOr('unknown'),
      bytes: count,
      /** True if deleted documents can be restored. */
      keeps_deleted: orNone(z.boolean()),
    })
    .catch({ backend: 'unknown', bytes: 0 }),
});

export const hit = z.object({
  /** Null if the engine does not report it. */
  document_id: orNull(documentId),
  chunk_id: z.union([z.number(), z.string()]).catch(''),
  score: count,
  /** The probability that the hit answers the query, 0 to 1. */
  relevance: orNone(z.number()),
  text: textOr(''),
  chunk_index: count,
  chunk_metadata: chunkMetadata.catch({}),
  title: textOr(''),
  doc_type: textOr('unknown'),
  source_path: orNull(z.string()),
  content_hash: orNone(z.string()),
  created_at: textOr(''),
  tags,
  truncated: orNone(truncation),
  /** Which search found it (words or meaning), at which rank, and by which terms. */
  why: orNone(z.record(z.string(), z.unknown())),
  neighbours: orNone(z.array(z.object({ chunk_index: count, text: textOr('') }))),
});

export const searchAnswer = z.object({
  query: textOr(''),
  results: z.array(hit),
  total_matches: orNone(z.number()),
  /** Number of weak hits that were omitted; absent if there are none. */
  weak_omitted: orNone(z.number().positive()),
  reranking: orNone(z.object({ state: z.enum(['applied', 'off', 'failed']), reason: orNone(z.string()) }).readonly()),
  degraded: orNone(z.string()),
  /** The offset to continue from if the answer was too long. */
  next_offset: orNone(z.int()),
});

const progress = z.object({ phase: textOr('unknown'), done: orNone(z.number()), total: orNone(z.number()) });

export const job = z.object({
  id: jobId,
  /** `ingest`, or the kind of change that the job records. */
  kind: orNone(z.string()),
  filename: orNull(z.string()),
  title: orNone(z.string().nullable()),
  status: textOr('unknown'),
  progress: orNull(progress),
  /** What failed and what to do. */
  error: orNull(z.string()),
  error_code: orNone(z.string().nullable()),
  document_id: orNull(documentId),
  chunk_count: orNull(z.number()),
  truncated: orNone(truncation),
  pending,
  doc_type: orNone(z.string().nullable()),
  tags,
  source_path: orNone(z.string().nullable()),
  content_hash: orNone(z.string().nullable()),
  attempts: orNone(z.number()),
  details: orNone(z.record(z.string(), z.unknown()).readonly()),
  details_left_out: orNone(z.boolean()),
  created_at: textOr(''),
  updated_at: orNull(z.string()),
});

/** Fields of every page. `next`: the query string for the rest, if the answer was too long. */
const page = { total: orNone(z.number()), next: orNone(z.string().startsWith('?')) };

export const jobPage = z.object({ jobs: z.array(job), ...page });

/** Only `job_id` is required; Carrel's engine also sends `status` and `filename`. */
export const submitted = z.object({ job_id: jobId, status: textOr('queued'), filename: orNone(z.string()) });

/** Sent with status 409 if the same bytes are already a document or a waiting job. */
export const duplicate = z
  .object({ document_id: orNone(documentId), job_id: orNone(jobId), title: orNull(z.string()) })
  .refine((existing) => existing.document_id !== undefined || existing.job_id !== undefined);

export const document = z.object({
  id: documentId,
  title: textOr(''),
  doc_type: textOr('unknown'),
  tags,
  source_path: orNull(z.string()),
  content_hash: orNull(z.string()),
  language: orNull(z.string()),
  chunk_count: orNull(z.number()),
  has_file: orNull(z.boolean()),
  filename: orNone(z.string()),
  content_type: orNone(z.string()),
  size: orNone(z.number()),
  truncated: orNone(truncation),
  pending,
  metadata: orNone(z.record(z.string(), z.unknown())),
  created_at: textOr(''),
  /** Null until the first change. */
  updated_at: orNull(z.string()),
});

export const documentPage = z.object({ documents: z.array(document), ...page });

const chunk = z.object({
  id: z.union([z.number(), z.string()]),
  chunk_index: z.int(),
  text: textOr(''),
  chunk_metadata: chunkMetadata.catch({}),
});

export const documentWithChunks = document.extend({
  chunks: z.array(chunk).catch([]),
  /** Number of chunks after these; absent if there are none. */
  chunks_left: orNone(z.number().positive()),
});

export const deleted = z.object({ title: textOr('') });

export const restoring = z.object({ status: textOr('queued'), title: textOr(''), job_id: jobId });

const tagCount = z.object({ tag: z.string(), count });

export const tagPage = z.object({ tags: z.array(tagCount), next: page.next });

export const bulkOutcome = z.object({ matched: count, total: count, changed: z.number(), job_id: jobId.catch('') });

export type JobId = z.output<typeof jobId>;
export type EngineStatus = z.output<typeof status>;
export type EngineHit = z.output<typeof hit>;
export type EngineSearchAnswer = Omit<z.output<typeof searchAnswer>, 'total_matches' | 'next_offset'> & {
  total_matches: number;
  returned: number;
};
export type EngineJob = z.output<typeof job>;
export type JobProgress = z.output<typeof progress>;
export type Truncation = z.output<typeof truncation>;
export type EngineDocument = z.output<typeof document>;
export type EngineDocumentWithChunks = z.output<typeof documentWithChunks>;
export type EngineChunk = z.output<typeof chunk>;
export type Restoring = z.output<typeof restoring>;
export type TagCount = z.output<typeof tagCount>;
export type BulkOutcome = z.output<typeof bulkOutcome>;
