import { wordIndexSchema } from './word-index-schema.ts';

/** Entries, and what belongs to them. */
export function entrySchema(): string {
  const text = 'text COLLATE "C"';
  const owner = 'bigint NOT NULL REFERENCES carrel.context_entries (key) ON DELETE CASCADE';
  return `
  CREATE TABLE carrel.context_entries (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id ${text} GENERATED ALWAYS AS (lpad(key::text, 16, '0')) STORED,
    thread_id ${text} NOT NULL CHECK (thread_id <> ''),
    source text NOT NULL CHECK (source IN ('user', 'agent')),
    content_type text NOT NULL CHECK (content_type IN ('text', 'multimodal')),
    text_content text NOT NULL CHECK (text_content <> ''),
    text_hash text NOT NULL CHECK (length(text_hash) = 64),
    metadata text,
    summary text,
    created_at ${text} NOT NULL CHECK (length(created_at) = 24),
    updated_at ${text} NOT NULL CHECK (length(updated_at) = 24),
    deleted_at ${text} CHECK (length(deleted_at) = 24)
  );
  CREATE INDEX context_entries_newest ON carrel.context_entries (created_at DESC, key DESC) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_last ON carrel.context_entries (thread_id, source, key) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_thread ON carrel.context_entries (thread_id, created_at DESC, key DESC, source, content_type)
    WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_order ON carrel.context_entries (thread_id, key) WHERE deleted_at IS NULL;
  CREATE INDEX context_entries_removed ON carrel.context_entries (deleted_at) WHERE deleted_at IS NOT NULL;
  CREATE INDEX context_entries_changed ON carrel.context_entries (updated_at) WHERE updated_at > created_at;
  CREATE INDEX context_entries_summarised ON carrel.context_entries (key)
    WHERE summary IS NOT NULL AND deleted_at IS NULL;

  CREATE TABLE carrel.context_tags (
    tag ${text} NOT NULL,
    entry ${owner},
    PRIMARY KEY (tag, entry)
  );
  CREATE INDEX context_tags_entry ON carrel.context_tags (entry, tag);

  CREATE TABLE carrel.context_fields (
    entry ${owner},
    path ${text} NOT NULL,
    member integer NOT NULL,
    kind ${text} NOT NULL,
    head ${text} NOT NULL,
    folded ${text} NOT NULL,
    exact ${text},
    number double precision,
    PRIMARY KEY (entry, path, member)
  );
  CREATE INDEX context_fields_text ON carrel.context_fields (path, kind, head, entry);
  CREATE INDEX context_fields_number ON carrel.context_fields (path, kind, number, entry);
  CREATE INDEX context_fields_long ON carrel.context_fields (path, kind, entry) WHERE length(head) >= 50;

  CREATE TABLE carrel.context_images (
    entry ${owner},
    position integer NOT NULL,
    mime_type text NOT NULL,
    metadata text,
    data bytea NOT NULL,
    PRIMARY KEY (entry, position)
  );

  CREATE TABLE carrel.idempotency_keys (
    key ${text} PRIMARY KEY,
    body_hash text NOT NULL,
    answer text NOT NULL,
    created_at ${text} NOT NULL
  );
  CREATE INDEX idempotency_keys_age ON carrel.idempotency_keys (created_at);

  ${wordIndexSchema('context_entry', 'context_entries')}
  `;
}

/** As SQLite's, with the same names. */
export function entryHistorySchema(): string {
  const text = 'text COLLATE "C"';
  const owner = 'bigint NOT NULL REFERENCES carrel.context_entries (key) ON DELETE CASCADE';
  return `
  CREATE TABLE carrel.context_versions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry ${owner},
    updated_at ${text} NOT NULL,
    replaced_at ${text} NOT NULL,
    content_type text NOT NULL,
    text_content text,
    summary text,
    metadata text,
    tags text NOT NULL,
    replaced_images integer NOT NULL
  );
  CREATE INDEX context_versions_entry ON carrel.context_versions (entry, replaced_at);
  CREATE INDEX context_versions_age ON carrel.context_versions (replaced_at);

  CREATE TABLE carrel.context_version_images (
    version bigint NOT NULL REFERENCES carrel.context_versions (key) ON DELETE CASCADE,
    position integer NOT NULL,
    mime_type text NOT NULL,
    metadata text,
    data bytea NOT NULL,
    PRIMARY KEY (version, position)
  );

  CREATE TABLE carrel.context_absences (
    entry ${owner},
    removed_at ${text} NOT NULL,
    restored_at ${text} NOT NULL
  );
  CREATE INDEX context_absences_entry ON carrel.context_absences (entry);

  CREATE TABLE carrel.context_threads (
    thread_id ${text} PRIMARY KEY,
    users bigint NOT NULL,
    agents bigint NOT NULL,
    multimodal bigint NOT NULL,
    first_entry ${text} NOT NULL,
    last_entry ${text} NOT NULL,
    last_id bigint NOT NULL
  );
  CREATE INDEX context_threads_newest ON carrel.context_threads (last_entry DESC, last_id DESC);

  CREATE TABLE carrel.context_summary_queue (
    entry bigint PRIMARY KEY REFERENCES carrel.context_entries (key) ON DELETE CASCADE
  );

  CREATE TABLE carrel.context_settings (name ${text} PRIMARY KEY, value text NOT NULL);
  INSERT INTO carrel.context_settings VALUES ('indexed_fields',
    '["status","agent_name","task_name","project","report_type","references:object","technologies:array"]');
  `;
}

/**
 * By which entries that are known are tested for a text: comparing one number with another takes a fraction of what it takes to
 * compare path, kind and head, and the entries of a common value lie on fewer pages.
 */
export function fieldHashSchema(): string {
  return `
  CREATE INDEX context_fields_hash ON carrel.context_fields (${fieldHash('path', 'head')}, entry)
    WHERE member = 0 AND kind = 'string';`;
}

/** The number of a path and a head. Others may have the same one. */
export function fieldHash(path: string, head: string): string {
  return `hashtextextended(${path} || ${head}, 0)`;
}
