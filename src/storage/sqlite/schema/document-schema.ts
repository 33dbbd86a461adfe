import { wordIndexSchema } from './word-index-schema.ts';

/** Documents and their jobs. */
export function documentSchema(): string {
  const owner = 'INTEGER NOT NULL REFERENCES kb_documents (key) ON DELETE CASCADE';
  return `
  CREATE TABLE kb_documents (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    doc_type TEXT NOT NULL,
    filename TEXT NOT NULL,
    source_path TEXT,
    content_hash TEXT NOT NULL UNIQUE CHECK (length(content_hash) = 64),
    content_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    language TEXT,
    details TEXT NOT NULL CHECK (json_type(details) = 'object'),
    chunk_count INTEGER NOT NULL,
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    updated_at TEXT CHECK (length(updated_at) = 24)
  ) STRICT;
  CREATE INDEX kb_documents_changed ON kb_documents (coalesce(updated_at, created_at) DESC, key DESC);
  CREATE INDEX kb_documents_source ON kb_documents (source_path) WHERE source_path IS NOT NULL;

  CREATE TABLE kb_document_tags (
    tag TEXT NOT NULL,
    document ${owner},
    position INTEGER NOT NULL,
    PRIMARY KEY (tag, document)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX kb_document_tags_document ON kb_document_tags (document, position);

  CREATE TABLE kb_notes (
    document INTEGER PRIMARY KEY REFERENCES kb_documents (key) ON DELETE CASCADE,
    text TEXT NOT NULL
  ) STRICT;

  CREATE TABLE kb_chunks (
    document ${owner},
    position INTEGER NOT NULL,
    metadata TEXT NOT NULL CHECK (json_type(metadata) = 'object'),
    PRIMARY KEY (document, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE kb_jobs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'done', 'failed', 'cancelled')),
    filename TEXT,
    title TEXT,
    doc_type TEXT,
    source_path TEXT,
    content_type TEXT,
    content_hash TEXT,
    bytes INTEGER,
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
    note TEXT,
    phase TEXT NOT NULL,
    phase_done INTEGER,
    phase_total INTEGER,
    error TEXT,
    error_code TEXT,
    document_id INTEGER,
    chunk_count INTEGER,
    details TEXT NOT NULL CHECK (json_type(details) = 'object'),
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    run_after INTEGER NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER,
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    updated_at TEXT NOT NULL CHECK (length(updated_at) = 24),
    CHECK ((status = 'processing') = (lease_owner IS NOT NULL AND lease_until IS NOT NULL))
  ) STRICT;
  CREATE INDEX kb_jobs_turn ON kb_jobs (status, crashes, key);
  CREATE INDEX kb_jobs_newest ON kb_jobs (status, key DESC);
  CREATE UNIQUE INDEX kb_jobs_content ON kb_jobs (content_hash)
    WHERE kind = 'ingest' AND status IN ('queued', 'processing');
  `;
}

/**
 * Callers who may not know of one another's documents may have the same content. All but the first have a `content_hash`
 * that stands for it, and the real one in `bytes_hash`.
 */
export function contentSchema(): string {
  return `
  ALTER TABLE kb_documents ADD COLUMN bytes_hash TEXT CHECK (length(bytes_hash) = 64);
  ALTER TABLE kb_jobs ADD COLUMN bytes_hash TEXT;
  CREATE INDEX kb_documents_bytes ON kb_documents (bytes_hash) WHERE bytes_hash IS NOT NULL;
  CREATE INDEX kb_jobs_bytes ON kb_jobs (bytes_hash) WHERE bytes_hash IS NOT NULL;
  `;
}

/**
 * The passages of documents. Their labels have no index by key and no foreign key: a passage names its labels itself, so
 * they are found by them when it is removed, and writing them takes half the time.
 */
export function passageSchema(): string {
  return `
  CREATE TABLE kb_passages (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    title TEXT NOT NULL,
    headings TEXT NOT NULL CHECK (json_type(headings) = 'array'),
    body TEXT NOT NULL,
    labels TEXT NOT NULL CHECK (json_type(labels) = 'array')
  ) STRICT;
  CREATE INDEX kb_passages_parent ON kb_passages (parent, position);

  CREATE TABLE kb_passage_labels (
    label TEXT NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (label, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER kb_passage_labels_removed AFTER DELETE ON kb_passages BEGIN
    DELETE FROM kb_passage_labels WHERE label IN (SELECT value FROM json_each(old.labels)) AND key = old.key;
  END;

  ${wordIndexSchema('kb_passage', 'kb_passages', 16)}
  `;
}

/** Documents that were deleted and can be restored: what a job needs to make them again. Their bytes are kept as originals. */
export function deletedSchema(): string {
  return `
  CREATE TABLE kb_deleted (
    document INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    doc_type TEXT NOT NULL,
    filename TEXT NOT NULL,
    source_path TEXT,
    content_hash TEXT NOT NULL CHECK (length(content_hash) = 64),
    content_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
    note TEXT,
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    deleted_at TEXT NOT NULL CHECK (length(deleted_at) = 24)
  ) STRICT;
  CREATE INDEX kb_deleted_content ON kb_deleted (content_hash);
  CREATE INDEX kb_deleted_newest ON kb_deleted (deleted_at DESC, document DESC);
  `;
}
