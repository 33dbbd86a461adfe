import { wordIndexSchema } from './word-index-schema.ts';

/**
 * Documents, their jobs and their bytes. Those who share a database share no disk, so the bytes are in here too, in pieces.
 */
export function documentSchema(): string {
  const text = 'text COLLATE "C"';
  const owner = 'bigint NOT NULL REFERENCES carrel.kb_documents (key) ON DELETE CASCADE';
  return `
  CREATE TABLE carrel.kb_documents (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    doc_type ${text} NOT NULL,
    filename text NOT NULL,
    source_path ${text},
    content_hash ${text} NOT NULL UNIQUE CHECK (length(content_hash) = 64),
    content_type text NOT NULL,
    bytes bigint NOT NULL,
    language text,
    details text NOT NULL,
    chunk_count integer NOT NULL,
    created_at ${text} NOT NULL CHECK (length(created_at) = 24),
    updated_at ${text} CHECK (length(updated_at) = 24)
  );
  CREATE INDEX kb_documents_changed ON carrel.kb_documents (coalesce(updated_at, created_at) DESC, key DESC);
  -- A B-tree takes no more than 2,704 bytes, and a path may have 1,000 characters of three each.
  CREATE INDEX kb_documents_source ON carrel.kb_documents USING hash (source_path) WHERE source_path IS NOT NULL;

  CREATE TABLE carrel.kb_document_tags (
    tag ${text} NOT NULL,
    document ${owner},
    position integer NOT NULL,
    PRIMARY KEY (tag, document)
  );
  CREATE INDEX kb_document_tags_document ON carrel.kb_document_tags (document, position);

  CREATE TABLE carrel.kb_notes (
    document bigint PRIMARY KEY REFERENCES carrel.kb_documents (key) ON DELETE CASCADE,
    text text NOT NULL
  );

  CREATE TABLE carrel.kb_chunks (
    document ${owner},
    position integer NOT NULL,
    metadata text NOT NULL,
    PRIMARY KEY (document, position)
  );

  CREATE TABLE carrel.kb_jobs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind ${text} NOT NULL,
    status ${text} NOT NULL CHECK (status IN ('queued', 'processing', 'done', 'failed', 'cancelled')),
    filename text,
    title text,
    doc_type text,
    source_path text,
    content_type text,
    content_hash ${text},
    bytes bigint,
    tags text NOT NULL,
    note text,
    phase text NOT NULL,
    phase_done integer,
    phase_total integer,
    error text,
    error_code text,
    document_id bigint,
    chunk_count integer,
    details text NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    retries integer NOT NULL,
    run_after bigint NOT NULL,
    lease_owner ${text},
    lease_until bigint,
    created_at ${text} NOT NULL CHECK (length(created_at) = 24),
    updated_at ${text} NOT NULL CHECK (length(updated_at) = 24),
    CHECK ((status = 'processing') = (lease_owner IS NOT NULL AND lease_until IS NOT NULL))
  );
  CREATE INDEX kb_jobs_turn ON carrel.kb_jobs (status, crashes, key);
  CREATE INDEX kb_jobs_newest ON carrel.kb_jobs (status, key DESC);
  CREATE UNIQUE INDEX kb_jobs_content ON carrel.kb_jobs (content_hash)
    WHERE kind = 'ingest' AND status IN ('queued', 'processing');

  CREATE TABLE carrel.kb_originals (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash ${text} UNIQUE,
    bytes bigint NOT NULL,
    staged_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE carrel.kb_original_parts (
    original bigint NOT NULL REFERENCES carrel.kb_originals (key) ON DELETE CASCADE,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (original, part)
  );
  ALTER TABLE carrel.kb_original_parts ALTER COLUMN data SET STORAGE EXTERNAL;
  `;
}

/**
 * Callers who may not know of one another's documents may have the same content. All but the first have a `content_hash`
 * that stands for it, and the real one in `bytes_hash`.
 */
export function contentSchema(): string {
  const text = 'text COLLATE "C"';
  return `
  ALTER TABLE carrel.kb_documents ADD COLUMN bytes_hash ${text} CHECK (length(bytes_hash) = 64);
  ALTER TABLE carrel.kb_jobs ADD COLUMN bytes_hash ${text};
  CREATE INDEX kb_documents_bytes ON carrel.kb_documents (bytes_hash) WHERE bytes_hash IS NOT NULL;
  CREATE INDEX kb_jobs_bytes ON carrel.kb_jobs (bytes_hash) WHERE bytes_hash IS NOT NULL;
  `;
}

/** The passages of documents. */
export function passageSchema(): string {
  return `
  CREATE TABLE carrel.kb_passages (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    parent text COLLATE "C" NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    title text NOT NULL,
    headings text[] NOT NULL,
    body text NOT NULL,
    labels text[] COLLATE "C" NOT NULL
  );
  CREATE INDEX kb_passages_parent ON carrel.kb_passages (parent, position);
  CREATE INDEX kb_passages_labels ON carrel.kb_passages USING gin (labels);

  ${wordIndexSchema('kb_passage', 'kb_passages')}
  `;
}

/** Documents that were deleted and can be restored: what a job needs to make them again. Their bytes are kept as originals. */
export function deletedSchema(): string {
  return `
  CREATE TABLE carrel.kb_deleted (
    document bigint PRIMARY KEY,
    title text NOT NULL,
    doc_type text COLLATE "C" NOT NULL,
    filename text NOT NULL,
    source_path text COLLATE "C",
    content_hash text COLLATE "C" NOT NULL CHECK (length(content_hash) = 64),
    content_type text NOT NULL,
    bytes bigint NOT NULL,
    tags text NOT NULL,
    note text,
    created_at text COLLATE "C" NOT NULL CHECK (length(created_at) = 24),
    deleted_at text COLLATE "C" NOT NULL CHECK (length(deleted_at) = 24)
  );
  CREATE INDEX kb_deleted_content ON carrel.kb_deleted (content_hash);
  CREATE INDEX kb_deleted_newest ON carrel.kb_deleted (deleted_at DESC, document DESC);
  `;
}
