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
