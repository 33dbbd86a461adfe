import { check, optional, type Table, t, unique } from './table.ts';

/** SQL condition for ingestion jobs that are not finished. */
export const isUnfinished = "kind = 'ingest' AND status IN ('queued', 'processing')";

export const documentTables: Table[] = [
  // Callers with separate access may store the same content. Every document after the first is then marked as a copy.
  {
    name: 'kb_documents',
    columns: {
      key: t.key,
      title: t.text,
      doc_type: t.exactText,
      filename: t.text,
      source_path: optional(t.exactText),
      content_hash: t.hash,
      is_copy: optional(t.integer),
      content_type: t.text,
      bytes: t.number,
      language: optional(t.text),
      details: t.object,
      chunk_count: t.integer,
      created_at: t.time,
      updated_at: optional(t.time),
      /** The note's text, if the document is a note. */
      note: optional(t.text),
    },
    indexes: {
      kb_documents_changed: { columns: 'coalesce(updated_at, created_at) DESC, key DESC' },
      // A hash index: a B-tree entry has at most 2,704 bytes, but a path can have 1,000 characters of three bytes each.
      kb_documents_source: { columns: 'source_path', where: 'source_path IS NOT NULL', method: 'hash' },
      kb_documents_content: { columns: 'content_hash' },
      kb_documents_first: { columns: 'content_hash', where: 'is_copy IS NULL', isUnique: true },
    },
  },
  {
    name: 'kb_document_tags',
    columns: { tag: t.exactText, document: t.reference('kb_documents'), position: t.integer },
    primaryKey: ['tag', 'document'],
    indexes: { kb_document_tags_document: { columns: 'document, position' } },
  },
  {
    name: 'kb_jobs',
    columns: {
      key: t.key,
      kind: t.exactText,
      status: check(t.exactText, "? IN ('queued', 'processing', 'done', 'failed', 'cancelled')"),
      filename: optional(t.text),
      title: optional(t.text),
      doc_type: optional(t.text),
      source_path: optional(t.text),
      content_type: optional(t.text),
      content_hash: optional(t.exactText),
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
      lease_owner: optional(t.exactText),
      lease_until: optional(t.number),
      created_at: t.time,
      updated_at: t.time,
      submitter: optional(t.exactText),
    },
    check: "(status = 'processing') = (lease_owner IS NOT NULL AND lease_until IS NOT NULL)",
    indexes: {
      kb_jobs_turn: { columns: 'status, crashes, key' },
      kb_jobs_submitter: { columns: 'submitter, key', where: "status = 'queued' AND crashes = 0" },
      kb_jobs_newest: { columns: 'status, key DESC' },
      kb_jobs_content: { columns: 'content_hash', where: isUnfinished },
      kb_jobs_first: { columns: 'content_hash', where: `${isUnfinished} AND is_copy IS NULL`, isUnique: true },
    },
  },
  {
    name: 'kb_passages',
    columns: {
      key: t.key,
      id: unique(t.exactText),
      parent: t.exactText,
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
  // Deleted documents that can be restored, with the fields that a job needs to recreate them. Their originals stay stored.
  {
    name: 'kb_deleted',
    columns: {
      document: t.number,
      title: t.text,
      doc_type: t.exactText,
      filename: t.text,
      source_path: optional(t.exactText),
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

export const webTables: Table[] = [
  // Pages, sites and feeds that are refreshed. Each run is a job of the kind `crawl`. The column `job` refers to the latest run.
  {
    name: 'web_sources',
    columns: {
      key: t.key,
      url: t.exactText,
      tags: t.array,
      settings: t.object,
      job: optional(t.number),
      last_run: optional(t.object),
      /** Time of the next refresh, in ms of the database's clock. */
      next_at: optional(t.number),
      paused_at: optional(t.time),
      created_at: t.time,
    },
    indexes: { web_sources_due: { columns: 'next_at', where: 'next_at IS NOT NULL AND paused_at IS NULL' } },
  },
  // The pages of each source, including those not visited yet. A run visits them in key order.
  {
    name: 'web_pages',
    columns: {
      key: t.key,
      source: t.reference('web_sources'),
      url: check(t.exactText, 'length(?) <= 1000'),
      depth: t.integer,
      state: check(t.exactText, "? IN ('new', 'stored', 'duplicate', 'alias', 'skipped', 'failed')"),
      document: optional(t.number),
      etag: optional(t.text),
      last_modified: optional(t.text),
      /** Time of the last change according to the sitemap. */
      listed_at: optional(t.text),
      text_hash: optional(t.hash),
      sketch: optional(t.text),
      /** The URL of the page that this alias or duplicate refers to. */
      target: optional(t.exactText),
      /** The run that last changed this row. */
      run: t.number,
      failures: t.integer,
      /** When the run retries the page, in ms of the database's clock. */
      retry_at: optional(t.number),
    },
    indexes: {
      web_pages_url: { columns: 'source, url', isUnique: true },
      web_pages_order: { columns: 'source, key' },
    },
  },
  // Leases on hosts: only one process at a time fetches from a host.
  {
    name: 'web_hosts',
    columns: {
      host: t.exactText,
      lease_owner: optional(t.exactText),
      lease_until: optional(t.number),
      next_at: t.number,
      robots: optional(t.text),
      robots_until: optional(t.number),
    },
    primaryKey: ['host'],
    check: '(lease_owner IS NULL) = (lease_until IS NULL)',
  },
];
