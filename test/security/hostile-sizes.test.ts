import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../fuzz/random.ts';
import { carrelProgram, startListening } from '../support/child-program.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../support/postgres.ts';
import { openSession } from '../support/raw-http.ts';

/** Incompressible three-byte characters: a PostgreSQL index entry holds 2,704 bytes of them. */
function long(characters: number): string {
  const random = createRandom(1, characters);
  return Array.from({ length: characters }, () => String.fromCharCode(0x4e00 + random.below(20_000))).join('');
}

const half = '\ud800';
const nul = 'a\0b';
const entry = { thread_id: 't', source: 'user', text: 'heron' };
const note = { title: 'a note', content: 'heron' };
const most = Number.MAX_SAFE_INTEGER;

const file = { filename: 'a.txt', total_size: 1 };

/** Every stored argument, and its name in answers. */
function storing(text: string): readonly (readonly [tool: string, args: object, name: string])[] {
  return [
    ['store_context', { ...entry, thread_id: text }, 'thread_id'],
    ['store_context', { ...entry, text: `b${text}` }, 'text'],
    ['store_context', { ...entry, tags: [text] }, 'a tag'],
    ['store_context', { ...entry, metadata: { [text]: text } }, 'A key in metadata'],
    ['store_context', { ...entry, images: [{ data: 'YWJj', mime_type: text }] }, 'mime_type'],
    ['store_context', { ...entry, idempotency_key: text }, 'idempotency_key'],
    ['store_context_batch', { entries: [entry], idempotency_key: text }, 'idempotency_key'],
    ['update_context', { context_id: 1, text }, 'text'],
    ['update_context', { context_id: 1, metadata_patch: { a: text } }, 'metadata_patch.a'],
    ['save_note', { ...note, title: text }, 'title'],
    ['save_note', { ...note, content: text }, 'content'],
    ['save_note', { ...note, tags: [text] }, 'tags'],
    ['save_note', { ...note, source_urls: [`https://example.org/${text}`] }, 'source_urls'],
    ['save_note', { ...note, idempotency_key: text }, 'idempotency_key'],
    ['kb_addnote', { text: `b${text}` }, 'text'],
    ['kb_addnote', { text: 'b heron', title: text }, 'title'],
    ['kb_addnote', { text: 'b heron', source_path: text }, 'source_path'],
    ['kb_update_note', { document_id: 1, text }, 'text'],
    ['kb_upload_start', { ...file, title: text }, 'title'],
    ['kb_upload_start', { ...file, source_path: text }, 'source_path'],
    ...naming(text),
  ];
}

/** Arguments that also reject control characters. */
function naming(text: string): readonly (readonly [tool: string, args: object, name: string])[] {
  return [
    ['kb_addnote', { text: 'b heron', collection: text }, 'collection'],
    ['kb_addnote', { text: 'b heron', tags: [text] }, 'tags'],
    ['kb_set_collection', { document_id: 1, collection: text }, 'collection'],
    ['kb_bulk_tags', { from_id: 1, add: [text] }, 'add'],
    ['kb_bulk_set_tags', { from_id: 1, set_tags: [text] }, 'set_tags'],
    ['kb_upload_start', { ...file, filename: text }, 'filename'],
    ['kb_upload_start', { ...file, collection: text }, 'collection'],
    ['kb_upload_start', { ...file, tags: [text] }, 'tags'],
    ['kb_upload_start', { ...file, doc_type: text }, 'doc_type'],
  ];
}

const refused = [...storing(nul), ...storing(half), ...naming('a\u0001b')];

/** Values of the maximum length, one longer, or with characters that a database can't store. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ['store_context', { ...entry, thread_id: long(512), tags: [long(256), long(255)] }],
  ['store_context', { ...entry, thread_id: long(513) }],
  ['store_context', { ...entry, metadata: { status: long(9_000), [long(3_000)]: long(3_000) } }],
  ['store_context', { ...entry, text: `${'x'.repeat(100_000)} bittern` }],
  ...[nul, half].flatMap((text): [string, object][] => [
    ['search_context', { thread_id: text }],
    ['search_context', { tags: [text] }],
    ['search_context', { metadata: { status: text } }],
    ['search_context', { metadata_filters: [{ key: text, operator: 'contains', value: text }] }],
    ['fts_search_context', { query: `${text} heron`, mode: 'boolean' }],
    ['grep_context', { pattern: text }],
    ['list_threads', { filter: text }],
    ['delete_context', { thread_id: text }],
    ['list_notes', { query: text }],
    ['list_notes', { tags: [text] }],
    ['get_note', { id: text }],
    ['update_note', { id: text, title: 'x' }],
    ['kb_search', { query: text }],
    ['kb_search', { query: 'heron', tags: [text] }],
    ['kb_list', { query: text }],
    ['kb_get', { source_path: text }],
    ['kb_jobs', { job_id: text }],
    ['kb_upload_chunk', { upload_id: text, data: 'aGk=', chunk_index: 0 }],
    ['kb_upload_finish', { upload_id: text }],
    ['find', { query: text }],
    ['verify', { uri: `carrel://kb/doc/${text}`, quote: text }],
  ]),
  ...refused.map(([tool, args]) => [tool, args] as const),
  ['fts_search_context', { query: 'bittern' }],
  ['list_threads', { filter: long(50_000) }],
  ['search_context', { offset: most }],
  ['get_context_by_ids', { context_ids: [most] }],
  ['save_note', { ...note, title: long(200), content: long(50_000), tags: [long(100)] }],
  ['save_note', { ...note, idempotency_key: long(256) }],
  ['list_notes', { offset: most }],
  ['kb_addnote', { text: 'a heron', title: long(300), source_path: long(1_000), collection: long(100) }],
  ['kb_get', { source_path: long(1_000) }],
  ['kb_get', { document_id: most }],
  ['kb_jobs', { job_id: most }],
  ['kb_jobs', { job_id: long(5_000) }],
  ['kb_upload_finish', { upload_id: long(5_000) }],
  ['kb_bulk_tags', { from_id: 1, to_id: most, add: [long(100)], force: true }],
];

const obstacle = serverObstacle();

/** Seed 004, security: hostile values get a clear answer, the same on both databases. */
test('values that an index or a text of a database cannot hold', { skip: obstacle ?? false }, async (t) => {
  const server = await startRealPostgres();
  assert.ok(typeof server !== 'string', String(server));
  t.after(() => server.stop());
  const { url } = await createTestDatabase(server);
  const postgres = { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: url };
  const [onSqlite, onPostgres] = [await answersOf({}), await answersOf(postgres)];
  for (const [index, [tool, args]] of calls.entries()) {
    const asked = `${tool} ${JSON.stringify(args).slice(0, 120)}`;
    assert.doesNotMatch(onSqlite[index] ?? '', /Internal error/, asked);
    assert.equal(onPostgres[index], onSqlite[index], asked);
  }
  const first = calls.findIndex(([, args]) => args === refused[0]?.[1]);
  for (const [index, [tool, args, name]] of refused.entries()) {
    const asked = `${tool} ${JSON.stringify(args).slice(0, 120)}`;
    const place = `${name.replaceAll('.', '\\.')}(\\[0\\])?`;
    const reason =
      'has [^;]*, which cannot be stored; leave it out|must not contain|must have [^;]*, none of them|must be like';
    assert.match(onSqlite[first + index] ?? '', new RegExp(`${place} (${reason})`), asked);
  }

  async function answersOf(database: Record<string, string>): Promise<string[]> {
    const env = {
      EMBEDDING_PROVIDER: 'none',
      ENABLE_RERANKING: 'false',
      ENABLE_SUMMARY_GENERATION: 'false',
      ...database,
    };
    const program = await startListening(carrelProgram, ['serve', '--transport', 'http', '--port', '0'], env);
    t.after(() => program.stop());
    const session = await openSession(program.url);
    const answers: string[] = [];
    for (const [index, [tool, args]] of calls.entries()) {
      const { messages } = await session.call(index, tool, args);
      answers.push(outline(messages[0] ?? {}, !/^(?:kb_|find)/.test(tool)));
    }
    return answers;
  }
});

/** An error unchanged, or the names of a result's fields; with the length of lists if `counts`. */
function outline({ error, result }: { error?: unknown; result?: Record<string, unknown> }, counts: boolean): string {
  if (error !== undefined || result?.['isError'] === true) return JSON.stringify(error ?? result?.['content']);
  const content = Object(result?.['structuredContent']) as Record<string, unknown>;
  return Object.entries(content)
    .map(([name, value]) => (counts && Array.isArray(value) ? `${name}: ${value.length}` : name))
    .join(', ');
}
