/** Names for a call: the caller's own, another caller's, or unknown ones. */
export interface Probe {
  readonly word: string;
  readonly collection: string;
  readonly thread: string;
  readonly tag: string;
  readonly path: string;
  readonly document: number;
  readonly note: number;
  readonly entry: number;
  readonly job: number;
  readonly upload: string;
  readonly text: string;
}

type Args = Record<string, unknown>;

/** Arguments for every tool whose data depends on rights. A missing tool fails the test. */
export const calls: Readonly<Record<string, (probe: Probe) => readonly Args[]>> = {
  store_context: ({ thread, tag }) => [{ thread_id: thread, source: 'user', text: 'x', tags: [tag] }],
  search_context: ({ thread, tag, word }) => [
    { limit: 50 },
    { thread_id: thread },
    { tags: [tag] },
    { metadata: { owner: word } },
    { as_of: '2999-01-01T00:00:00Z', thread_id: thread },
    { thread_id: thread, explain_query: true },
  ],
  get_context_by_ids: ({ entry }) => [
    { context_ids: [entry] },
    { context_ids: [entry], as_of: '2999-01-01T00:00:00Z', include_images: true },
  ],
  delete_context: ({ entry, thread }) => [
    { context_ids: [entry] },
    { thread_id: thread },
    { thread_id: thread, dry_run: true },
  ],
  update_context: ({ entry }) => [
    { context_id: entry, text: 'changed' },
    { context_id: entry, tags: ['changed'] },
    { context_id: entry, metadata_patch: { changed: true } },
  ],
  list_threads: ({ thread }) => [{}, { filter: thread }],
  get_statistics: () => [{}],
  semantic_search_context: ({ word, thread, text }) => [
    { query: text, include_weak: true },
    { query: word, thread_id: thread },
  ],
  fts_search_context: ({ word, thread, tag }) => [
    { query: word },
    { query: `${word.slice(0, -1)}x` },
    { query: word, mode: 'prefix' },
    { query: 'harbour', thread_id: thread },
    { query: 'harbour', tags: [tag] },
  ],
  hybrid_search_context: ({ word, thread, text }) => [
    { query: text, include_weak: true },
    { query: word, thread_id: thread },
    { query: word, explain_query: true },
  ],
  store_context_batch: ({ thread }) => [
    { entries: [{ thread_id: thread, source: 'agent', text: 'x' }] },
    { entries: [{ thread_id: thread, source: 'agent', text: 'x' }], atomic: false },
  ],
  update_context_batch: ({ entry }) => [
    { updates: [{ context_id: entry, text: 'x' }] },
    { updates: [{ context_id: entry, text: 'x' }], atomic: false },
  ],
  delete_context_batch: ({ entry, thread }) => [
    { context_ids: [entry] },
    { thread_ids: [thread] },
    { thread_ids: [thread], dry_run: true },
  ],
  grep_context: ({ word, thread }) => [
    { pattern: word },
    { pattern: word, thread_id: thread },
    { pattern: word, output_mode: 'count' },
  ],
  navigate_context: ({ entry }) => [{ context_id: entry }],
  read_context_range: ({ entry }) => [{ context_id: entry, start_char: 0, end_char: 10 }],
  restore_context: ({ entry, thread }) => [{ context_ids: [entry] }, { thread_id: thread }],
  kb_search: ({ word, collection, tag, text }) => [
    { query: text, include_weak: true, neighbours: 1 },
    { query: word },
    { query: `${word.slice(0, -1)}x`, fts_only: true },
    { query: 'harbour', collection },
    { query: 'harbour', tags: [tag] },
    { query: text, vec_only: true },
  ],
  kb_add: ({ collection, text }) => [{ text, collection }, { text }, { path: '/etc/hostname', collection }],
  kb_addnote: ({ collection, text }) => [
    { text, collection },
    { text },
    { text: `${text}!`, tags: [`collection:${collection}`] },
  ],
  kb_update_note: ({ note, text }) => [{ document_id: note, text }],
  kb_get: ({ document, note, path }) => [{ document_id: document }, { document_id: note }, { source_path: path }],
  kb_list: ({ collection, tag, word }) => [{ limit: 100 }, { collection }, { tag }, { query: word }],
  kb_status: () => [{}],
  kb_sources: () => [{}],
  kb_jobs: ({ job }) => [{ limit: 100 }, { status: 'done' }, { status: 'queued' }, { job_id: job }],
  kb_upload_start: ({ collection }) => [{ filename: 'a.txt', total_size: 3, collection }],
  kb_upload_chunk: ({ upload }) => [{ upload_id: upload, data: 'YWJj', chunk_index: 0 }],
  kb_upload_finish: ({ upload }) => [{ upload_id: upload }],
  kb_delete: ({ document, note }) => [
    { document_id: document },
    { document_id: note },
    { document_id: document, restore: true },
  ],
  kb_set_collection: ({ document, collection }) => [{ document_id: document }, { document_id: document, collection }],
  kb_bulk_delete: ({ document, collection, tag }) => [
    { document_ids: [document] },
    { collection },
    { tags: [tag], force: true },
    { from_id: document, to_id: document, force: true },
  ],
  kb_bulk_tags: ({ document, collection, tag }) => [
    { document_ids: [document], add: ['n'] },
    { collection, remove: [tag] },
    { document_ids: [document], set_collection: collection },
  ],
  kb_bulk_set_tags: ({ document, collection }) => [
    { document_ids: [document], set_tags: ['n'] },
    { document_ids: [document], set_tags: ['n'], set_collection: collection },
  ],
  find: ({ word, text }) => [{ query: word, include_weak: true }, { query: text }],
  verify: ({ document, entry, text }) => [
    { uri: `carrel://kb/doc/${document}`, quote: text },
    { uri: `carrel://context/${entry}`, quote: text },
  ],
};

/** Tools of other toolsets, which no restricted token has. */
export const elsewhere = /^(web_search|fetch_page|(save|get|update|delete)_note|list_notes|fess_)/;
