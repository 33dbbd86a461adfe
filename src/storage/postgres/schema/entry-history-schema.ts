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
