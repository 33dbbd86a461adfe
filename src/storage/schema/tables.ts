import { check, optional, type Table, t, unique } from './table.ts';

/** Condition: not deleted. */
const live = 'deleted_at IS NULL';

const changes = { created_at: t.time, updated_at: t.time, deleted_at: optional(t.time) };

const noteTables: Table[] = [
  {
    name: 'notes',
    columns: {
      key: t.key,
      id: unique(check(t.name, 'length(?) = 36')),
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

const entryTables: Table[] = [
  {
    name: 'context_entries',
    columns: {
      key: t.key,
      id: t.generated({
        sqlite: "TEXT GENERATED ALWAYS AS (printf('%016d', key)) VIRTUAL",
        postgres: `text COLLATE "C" GENERATED ALWAYS AS (lpad(key::text, 16, '0')) STORED`,
      }),
      thread_id: check(t.name, "? <> ''"),
      source: check(t.text, "? IN ('user', 'agent')"),
      content_type: check(t.text, "? IN ('text', 'multimodal')"),
      text_content: check(t.text, "? <> ''"),
      text_hash: t.hash,
      metadata: optional(t.object),
      summary: optional(t.text),
      /** 1: a summary is needed. */
      summary_due: t.integer,
      ...changes,
    },
    indexes: {
      context_entries_newest: { columns: 'created_at DESC, key DESC', where: live },
      context_entries_last: { columns: 'thread_id, source, key', where: live },
      context_entries_thread: { columns: 'thread_id, created_at DESC, key DESC, source, content_type', where: live },
      context_entries_order: { columns: 'thread_id, key', where: live },
      context_entries_removed: { columns: 'deleted_at', where: 'deleted_at IS NOT NULL' },
      context_entries_changed: { columns: 'updated_at', where: 'updated_at > created_at' },
      context_entries_summarised: { columns: 'key', where: `summary IS NOT NULL AND ${live}` },
      context_entries_due: { columns: 'key', where: 'summary_due = 1' },
    },
  },
  {
    name: 'context_tags',
    columns: { tag: t.name, entry: t.reference('context_entries') },
    primaryKey: ['tag', 'entry'],
    indexes: { context_tags_entry: { columns: 'entry, tag' } },
  },
  {
    name: 'context_fields',
    columns: {
      entry: t.reference('context_entries'),
      path: t.name,
      member: t.integer,
      kind: t.name,
      head: t.name,
      folded: t.name,
      exact: optional(t.name),
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
    columns: { key: t.name, body_hash: t.text, answer: t.text, created_at: t.name },
    primaryKey: ['key'],
    indexes: { idempotency_keys_age: { columns: 'created_at' } },
  },
  // Earlier versions of entries. A null text is the same as in the next version.
  {
    name: 'context_versions',
    columns: {
      key: t.key,
      entry: t.reference('context_entries'),
      updated_at: t.name,
      replaced_at: t.name,
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
    columns: { entry: t.reference('context_entries'), removed_at: t.name, restored_at: t.name },
    indexes: { context_absences_entry: { columns: 'entry' } },
  },
  {
    name: 'context_threads',
    columns: {
      thread_id: t.name,
      users: t.number,
      agents: t.number,
      multimodal: t.number,
      first_entry: t.name,
      last_entry: t.name,
      last_id: t.number,
    },
    primaryKey: ['thread_id'],
    indexes: { context_threads_newest: { columns: 'last_entry DESC, last_id DESC' } },
  },
];

/** Condition on jobs: their content is waiting to become a document. */
const isWaiting = "kind = 'ingest' AND status IN ('queued', 'processing')";

const documentTables: Table[] = [
  // Callers who may not see each other's documents may have the same content. All but the first are copies.
  {
    name: 'kb_documents',
    columns: {
      key: t.key,
      title: t.text,
      doc_type: t.name,
      filename: t.text,
      source_path: optional(t.name),
      content_hash: t.hash,
      is_copy: optional(t.integer),
      content_type: t.text,
      bytes: t.number,
      language: optional(t.text),
      details: t.object,
      chunk_count: t.integer,
      created_at: t.time,
      updated_at: optional(t.time),
      /** The text of a note. */
      note: optional(t.text),
    },
    indexes: {
      kb_documents_changed: { columns: 'coalesce(updated_at, created_at) DESC, key DESC' },
      // A B-tree entry has at most 2,704 bytes, and a path may have 1,000 characters of three each.
      kb_documents_source: { columns: 'source_path', where: 'source_path IS NOT NULL', method: 'hash' },
      kb_documents_content: { columns: 'content_hash' },
      kb_documents_first: { columns: 'content_hash', where: 'is_copy IS NULL', isUnique: true },
    },
  },
  {
    name: 'kb_document_tags',
    columns: { tag: t.name, document: t.reference('kb_documents'), position: t.integer },
    primaryKey: ['tag', 'document'],
    indexes: { kb_document_tags_document: { columns: 'document, position' } },
  },
  {
    name: 'kb_jobs',
    columns: {
      key: t.key,
      kind: t.name,
      status: check(t.name, "? IN ('queued', 'processing', 'done', 'failed', 'cancelled')"),
      filename: optional(t.text),
      title: optional(t.text),
      doc_type: optional(t.text),
      source_path: optional(t.text),
      content_type: optional(t.text),
      content_hash: optional(t.name),
      is_copy: optional(t.integer),
      bytes: optional(t.number),
      tags: t.array,
      note: optional(t.text),
      phase: t.text,
      phase_done: optional(t.integer),
      phase_total: optional(t.integer),
      error: optional(t.text),
      error_code: optional(t.text),
      document_id: optional(t.number),
      chunk_count: optional(t.integer),
      details: t.object,
      attempts: t.integer,
      crashes: t.integer,
      retries: t.integer,
      run_after: t.number,
      lease_owner: optional(t.name),
      lease_until: optional(t.number),
      created_at: t.time,
      updated_at: t.time,
    },
    check: "(status = 'processing') = (lease_owner IS NOT NULL AND lease_until IS NOT NULL)",
    indexes: {
      kb_jobs_turn: { columns: 'status, crashes, key' },
      kb_jobs_newest: { columns: 'status, key DESC' },
      kb_jobs_content: { columns: 'content_hash', where: isWaiting },
      kb_jobs_first: { columns: 'content_hash', where: `${isWaiting} AND is_copy IS NULL`, isUnique: true },
    },
  },
  {
    name: 'kb_passages',
    columns: {
      key: t.key,
      id: unique(t.name),
      parent: t.name,
      position: check(t.integer, '? >= 0'),
      title: t.text,
      headings: t.list(),
      body: t.text,
      labels: t.list(),
      metadata: t.object,
    },
    indexes: {
      kb_passages_parent: { columns: 'parent, position' },
    },
  },
  // Deleted documents that can be restored: what a job needs to recreate them. Originals keep their bytes.
  {
    name: 'kb_deleted',
    columns: {
      document: t.number,
      title: t.text,
      doc_type: t.name,
      filename: t.text,
      source_path: optional(t.name),
      content_hash: t.hash,
      content_type: t.text,
      bytes: t.number,
      tags: t.array,
      note: optional(t.text),
      created_at: t.time,
      deleted_at: t.time,
    },
    primaryKey: ['document'],
    indexes: {
      kb_deleted_content: { columns: 'content_hash' },
      kb_deleted_newest: { columns: 'deleted_at DESC, document DESC' },
    },
  },
];

const webTables: Table[] = [
  // Pages, sites and feeds that are kept up to date. Each run is a job of the kind `crawl`; `job` is the latest one.
  {
    name: 'web_sources',
    columns: {
      key: t.key,
      url: t.name,
      tags: t.array,
      settings: t.object,
      job: optional(t.number),
      last_run: optional(t.object),
      /** When the next refresh is due, by the database's clock. */
      next_at: optional(t.number),
      paused_at: optional(t.time),
      created_at: t.time,
    },
    indexes: { web_sources_due: { columns: 'next_at', where: 'next_at IS NOT NULL AND paused_at IS NULL' } },
  },
  // The frontier of each source and the state of its pages. A run visits them in key order.
  {
    name: 'web_pages',
    columns: {
      key: t.key,
      source: t.reference('web_sources'),
      url: check(t.name, 'length(?) <= 1000'),
      depth: t.integer,
      state: check(t.name, "? IN ('new', 'stored', 'duplicate', 'alias', 'skipped', 'failed')"),
      document: optional(t.number),
      etag: optional(t.text),
      last_modified: optional(t.text),
      /** From the sitemap. */
      listed_at: optional(t.text),
      text_hash: optional(t.hash),
      sketch: optional(t.text),
      /** The page that this one redirects to. */
      target: optional(t.name),
      /** The run that last changed it. */
      run: t.number,
      failures: t.integer,
      /** When the run retries it, by the database's clock. */
      retry_at: optional(t.number),
    },
    indexes: {
      web_pages_url: { columns: 'source, url', isUnique: true },
      web_pages_order: { columns: 'source, key' },
    },
  },
  // One process at a time fetches from a host.
  {
    name: 'web_hosts',
    columns: {
      host: t.name,
      lease_owner: optional(t.name),
      lease_until: optional(t.number),
      next_at: t.number,
      robots: optional(t.text),
      robots_until: optional(t.number),
    },
    primaryKey: ['host'],
    check: '(lease_owner IS NULL) = (lease_until IS NULL)',
  },
];

/** Keys are never reused: the user of a revoked token is not mistaken for the holder of a new one. */
const tokenTables: Table[] = [
  {
    name: 'access_tokens',
    columns: {
      key: t.key,
      name: t.name,
      hash: unique(t.hash),
      rights: t.object,
      created_at: t.time,
      expires_at: optional(t.time),
      last_used_at: optional(t.time),
      revoked_at: optional(t.time),
    },
    indexes: { access_tokens_name: { columns: 'name', where: 'revoked_at IS NULL', isUnique: true } },
  },
];

export interface Corpus {
  readonly name: 'context' | 'kb';
  /** The table of the owners. */
  readonly owners: string;
  /** Condition on a row: its text is searched. */
  readonly isLive: (row: string) => string;
  /** The columns that vectors are made from, or that decide whether the row is live. */
  readonly columns: readonly string[];
}

export const corpora: readonly Corpus[] = [
  {
    name: 'context',
    owners: 'context_entries',
    isLive: (row) => `${row}.deleted_at IS NULL`,
    columns: ['text_hash', 'deleted_at'],
  },
  { name: 'kb', owners: 'kb_passages', isLive: () => 'TRUE', columns: ['title', 'headings', 'body'] },
];

/** A model without a name is being dropped. */
const modelTable: Table = {
  name: 'vector_models',
  columns: {
    key: t.key,
    corpus: t.name,
    name: optional(t.name),
    dimensions: optional(check(t.integer, '? > 0')),
    chosen: t.number,
  },
  indexes: { vector_models_name: { columns: 'corpus, name', isUnique: true } },
};

/** Vectors, the texts that need theirs, and a list of removals for in-memory indexes. */
function vectorTables({ name, owners }: Corpus): Table[] {
  return [
    {
      name: `${name}_unembedded`,
      columns: {
        model: t.reference(modelTable.name),
        owner: t.reference(owners),
        claimed_by: optional(t.name),
        claimed_until: optional(t.number),
      },
      primaryKey: ['model', 'owner'],
      check: '(claimed_by IS NULL) = (claimed_until IS NULL)',
      indexes: { [`${name}_unembedded_owner`]: { columns: 'owner' } },
    },
    {
      name: `${name}_vectors`,
      columns: {
        key: t.key,
        owner: t.reference(owners),
        model: t.reference(modelTable.name),
        start_at: t.integer,
        end_at: t.integer,
        vector: t.vector,
      },
      indexes: {
        [`${name}_vectors_owner`]: { columns: 'owner, model' },
        [`${name}_vectors_model`]: { columns: 'model, key' },
      },
    },
    { name: `${name}_vector_removals`, columns: { number: t.key, vector: t.number } },
  ];
}

/** The word indexes and the tables they belong to. */
export const wordOwners = { note: 'notes', context_entry: 'context_entries', kb_passage: 'kb_passages' } as const;

/** The analysed terms of each text, in order. */
function termTable([name, owner]: readonly [string, string]): Table {
  return {
    name: `${name}_terms`,
    columns: {
      key: t.reference(owner),
      title: t.text,
      title_extra: t.text,
      heading: t.text,
      heading_extra: t.text,
      body: t.text,
      body_extra: t.text,
      title_length: t.integer,
      heading_length: t.integer,
      body_length: t.integer,
    },
    primaryKey: ['key'],
  };
}

/** Every word that was ever in a text of an index, for correcting misspelt ones. */
const vocabularyTable: Table = {
  name: 'word_vocabulary',
  columns: { place: t.key, word_index: t.name, term: t.text },
  indexes: { word_vocabulary_term: { columns: 'term', method: 'hash' } },
};

/** See settings.ts. */
const settingsTable: Table = { name: 'settings', columns: { name: t.name, value: t.text }, primaryKey: ['name'] };

/** The tables of both databases, each after those it refers to. A backup contains them; everything else is derived from them. */
export const tables: readonly Table[] = [
  ...noteTables,
  ...entryTables,
  ...documentTables,
  ...webTables,
  ...tokenTables,
  modelTable,
  ...corpora.flatMap(vectorTables),
  ...Object.entries(wordOwners).map(termTable),
  vocabularyTable,
  settingsTable,
];

/** Initial settings of a new database. */
export const firstSettings = [
  'indexed_fields',
  '["status","agent_name","task_name","project","report_type","references:object","technologies:array"]',
] as const;
