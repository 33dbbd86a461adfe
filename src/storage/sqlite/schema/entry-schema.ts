import { wordIndexSchema } from './word-index-schema.ts';

/** Entries, and what belongs to them. */
export function entrySchema(): string {
  return `
  CREATE TABLE context_entries (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT GENERATED ALWAYS AS (printf('%016d', key)) VIRTUAL,
    thread_id TEXT NOT NULL CHECK (thread_id <> ''),
    source TEXT NOT NULL CHECK (source IN ('user', 'agent')),
    content_type TEXT NOT NULL CHECK (content_type IN ('text', 'multimodal')),
    text_content TEXT NOT NULL CHECK (text_content <> ''),
    text_hash TEXT NOT NULL CHECK (length(text_hash) = 64),
    metadata TEXT CHECK (metadata IS NULL OR json_type(metadata) = 'object'),
    summary TEXT,
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    updated_at TEXT NOT NULL CHECK (length(updated_at) = 24),
    deleted_at TEXT CHECK (length(deleted_at) = 24)
  ) STRICT;
  CREATE INDEX context_entries_newest ON context_entries (created_at DESC, key DESC) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_last ON context_entries (thread_id, source, key) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_thread ON context_entries (thread_id, created_at DESC, key DESC, source, content_type)
    WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_order ON context_entries (thread_id, key) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_removed ON context_entries (deleted_at) WHERE deleted_at IS NOT NULL;
  CREATE INDEX context_entries_changed ON context_entries (updated_at) WHERE updated_at > created_at;
  CREATE INDEX context_entries_summarised ON context_entries (key) WHERE summary IS NOT NULL AND deleted_at IS NULL;

  CREATE TABLE context_tags (
    tag TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES context_entries (key) ON DELETE CASCADE,
    PRIMARY KEY (tag, entry)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_tags_entry ON context_tags (entry, tag);

  CREATE TABLE context_fields (
    entry INTEGER NOT NULL REFERENCES context_entries (key) ON DELETE CASCADE,
    path TEXT NOT NULL,
    member INTEGER NOT NULL,
    kind TEXT NOT NULL,
    head TEXT NOT NULL,
    folded TEXT NOT NULL,
    exact TEXT,
    number REAL,
    PRIMARY KEY (entry, path, member)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_fields_text ON context_fields (path, kind, head, entry);
  CREATE INDEX context_fields_number ON context_fields (path, kind, number, entry);
  CREATE INDEX context_fields_long ON context_fields (path, kind, entry) WHERE length(head) >= 50;

  CREATE TABLE context_images (
    entry INTEGER NOT NULL REFERENCES context_entries (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    mime_type TEXT NOT NULL,
    metadata TEXT,
    data BLOB NOT NULL,
    PRIMARY KEY (entry, position)
  ) STRICT;

  CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY,
    body_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

  ${wordIndexSchema('context_entry', 'context_entries', 8)}
  `;
}

/**
 * What entries were, how many each thread has, what waits for a summary, and which fields of metadata are indexed.
 *
 * `context_versions` holds what an update replaced; a text that it left alone is null, and is that of the next version.
 */
export function entryHistorySchema(): string {
  return `
  CREATE TABLE context_versions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    entry INTEGER NOT NULL REFERENCES context_entries (key) ON DELETE CASCADE,
    updated_at TEXT NOT NULL,
    replaced_at TEXT NOT NULL,
    content_type TEXT NOT NULL,
    text_content TEXT,
    summary TEXT,
    metadata TEXT,
    tags TEXT NOT NULL,
    replaced_images INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX context_versions_entry ON context_versions (entry, replaced_at);
  CREATE INDEX context_versions_age ON context_versions (replaced_at);

  CREATE TABLE context_version_images (
    version INTEGER NOT NULL REFERENCES context_versions (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    mime_type TEXT NOT NULL,
    metadata TEXT,
    data BLOB NOT NULL,
    PRIMARY KEY (version, position)
  ) STRICT;

  CREATE TABLE context_absences (
    entry INTEGER NOT NULL REFERENCES context_entries (key) ON DELETE CASCADE,
    removed_at TEXT NOT NULL,
    restored_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX context_absences_entry ON context_absences (entry);

  CREATE TABLE context_threads (
    thread_id TEXT PRIMARY KEY,
    users INTEGER NOT NULL,
    agents INTEGER NOT NULL,
    multimodal INTEGER NOT NULL,
    first_entry TEXT NOT NULL,
    last_entry TEXT NOT NULL,
    last_id INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_threads_newest ON context_threads (last_entry DESC, last_id DESC);

  CREATE TABLE context_summary_queue (
    entry INTEGER PRIMARY KEY REFERENCES context_entries (key) ON DELETE CASCADE
  ) STRICT;

  CREATE TABLE context_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO context_settings VALUES ('indexed_fields',
    '["status","agent_name","task_name","project","report_type","references:object","technologies:array"]');
  `;
}
