import { check, optional, type Table, t, unique } from './table.ts';

/** SQL condition for rows that are not deleted. */
const live = 'deleted_at IS NULL';

const changes = { created_at: t.time, updated_at: t.time, deleted_at: optional(t.time) };

export const noteTables: Table[] = [
  {
    name: 'notes',
    columns: {
      key: t.key,
      id: unique(check(t.exactText, 'length(?) = 36')),
      title: check(t.text, 'length(?) BETWEEN 1 AND 200'),
      content: check(t.text, 'length(?) BETWEEN 1 AND 50000'),
      tags: t.list(10),
      source_urls: t.list(20),
      ...changes,
    },
    indexes: {
      notes_newest: { columns: 'created_at DESC, id', where: live },
      notes_removed: { columns: 'deleted_at', where: 'deleted_at IS NOT NULL' },
    },
  },
];

const image = { position: t.integer, mime_type: t.text, metadata: optional(t.text), data: t.bytes };

export const entryTables: Table[] = [
  {
    name: 'context_entries',
    columns: {
      key: t.key,
      thread_id: check(t.exactText, "? <> ''"),
      source: check(t.text, "? IN ('user', 'agent')"),
      content_type: check(t.text, "? IN ('text', 'multimodal')"),
      text_content: check(t.text, "? <> ''"),
      text_hash: t.hash,
      metadata: optional(t.object),
      summary: optional(t.text),
      /** 1 if a summary still has to be written. */
      summary_due: t.integer,
      ...changes,
    },
    indexes: {
      context_entries_newest: { columns: 'created_at DESC, key DESC', where: live },
      context_entries_last: { columns: 'thread_id, source, key', where: live },
      // Lists and counts of threads read only this index. For that, SQLite needs `deleted_at` as a column too.
      context_entries_thread: {
        columns: 'thread_id, created_at DESC, key DESC, source, content_type, deleted_at',
        where: live,
      },
      context_entries_order: { columns: 'thread_id, key', where: live },
      context_entries_removed: { columns: 'deleted_at', where: 'deleted_at IS NOT NULL' },
      context_entries_changed: { columns: 'updated_at', where: 'updated_at > created_at' },
      context_entries_summarised: { columns: 'key', where: `summary IS NOT NULL AND ${live}` },
      context_entries_due: { columns: 'key', where: 'summary_due = 1' },
    },
  },
  {
    name: 'context_tags',
    columns: { tag: t.exactText, entry: t.reference('context_entries') },
    primaryKey: ['tag', 'entry'],
    indexes: { context_tags_entry: { columns: 'entry, tag' } },
  },
  {
    name: 'context_fields',
    columns: {
      entry: t.reference('context_entries'),
      path: t.exactText,
      member: t.integer,
      kind: t.exactText,
      head: t.exactText,
      folded: t.exactText,
      exact: optional(t.exactText),
      number: optional(t.real),
    },
    primaryKey: ['entry', 'path', 'member'],
    indexes: {
      context_fields_text: { columns: 'path, kind, head, entry' },
      context_fields_number: { columns: 'path, kind, number, entry' },
    },
  },
  {
    name: 'context_images',
    columns: { entry: t.reference('context_entries'), ...image },
    primaryKey: ['entry', 'position'],
  },
  {
    name: 'idempotency_keys',
    columns: { key: t.exactText, body_hash: t.text, answer: t.text, created_at: t.exactText },
    primaryKey: ['key'],
    indexes: { idempotency_keys_age: { columns: 'created_at' } },
  },
  // Earlier versions of entries. If `text_content` is null, the text is the same as in the next version.
  {
    name: 'context_versions',
    columns: {
      key: t.key,
      entry: t.reference('context_entries'),
      updated_at: t.exactText,
      replaced_at: t.exactText,
      content_type: t.text,
      text_content: optional(t.text),
      summary: optional(t.text),
      metadata: optional(t.text),
      tags: t.text,
      replaced_images: t.integer,
    },
    indexes: {
      context_versions_entry: { columns: 'entry, replaced_at' },
      context_versions_age: { columns: 'replaced_at' },
    },
  },
  {
    name: 'context_version_images',
    columns: { version: t.reference('context_versions'), ...image },
    primaryKey: ['version', 'position'],
  },
  {
    name: 'context_absences',
    columns: { entry: t.reference('context_entries'), removed_at: t.exactText, restored_at: t.exactText },
    indexes: { context_absences_entry: { columns: 'entry' } },
  },
];
