import { carrelProgram, startListening } from '/work/trees/docs19/test/support/child-program.ts';
import { openSession } from '/work/trees/docs19/test/support/raw-http.ts';
import { startRealPostgres, createTestDatabase } from '/work/trees/docs19/test/support/postgres.ts';
let seed = 7;
const rnd = (n: number) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return Math.floor((seed / 2 ** 32) * n); };
const cjk = (n: number) => Array.from({ length: n }, () => String.fromCharCode(0x4e00 + rnd(20000))).join('');
const words = (chars: number) => { const out: string[] = []; let n = 0; while (n < chars) { const w = rnd(36 ** 5).toString(36) + rnd(36 ** 4).toString(36); out.push(w); n += w.length + 1; } return out.join(' '); };
const mark = 'zebrafish';
const wide = words(1_900_000) + ' ' + mark + 'a';
const han = cjk(900_000) + ' ' + mark + 'b';
const one = 'x'.repeat(1_000_000) + ' ' + mark + 'c';
const hanOne = cjk(1_000_000);
const deep = (n: number) => { let v: unknown = 1; for (let i = 0; i < n; i++) v = { a: v }; return { a: v }; };
const T = 'store_context';
const base = (text: string, more: object = {}) => ({ thread_id: 't', source: 'user', text, ...more });
const note = (more: object) => ({ title: 't', content: 'c '.repeat(10), ...more });
const longThread = cjk(512), longTag = cjk(256);
const path1000 = cjk(1000);
const title300 = cjk(300);
const coll = cjk(180);
const calls: [string, string, object][] = [
  ['wide', T, base(wide)], ['han', T, base(han)], ['one', T, base(one)], ['hanOne', T, base(hanOne)],
  ['find wide', 'fts_search_context', { query: mark + 'a' }], ['find han', 'fts_search_context', { query: mark + 'b' }], ['find one', 'fts_search_context', { query: mark + 'c' }],
  ['thread 512', T, base('a', { thread_id: longThread })], ['thread 513', T, base('a', { thread_id: longThread + 'x' })],
  ['thread 512 read', 'search_context', { thread_id: longThread }], ['thread 5000 read', 'search_context', { thread_id: cjk(5000) }],
  ['thread filter', 'list_threads', { filter: longThread }], ['thread filter 100k', 'list_threads', { filter: cjk(100000) }],
  ['tag 256', T, base('a', { tags: [longTag] })], ['tag read', 'search_context', { tags: [longTag] }], ['tag 5000 read', 'search_context', { tags: [cjk(5000)] }],
  ['tags 100', T, base('b', { tags: Array.from({ length: 100 }, () => cjk(250)) })], ['tags 101', T, base('b', { tags: Array.from({ length: 101 }, () => cjk(250)) })],
  ['tags read 1000', 'search_context', { tags: Array.from({ length: 1000 }, () => cjk(20)) }],
  ['meta key long', T, base('c', { metadata: { [cjk(3000)]: cjk(3000) } })],
  ['meta status long', T, base('c', { metadata: { status: cjk(20000), agent_name: cjk(5000), technologies: Array.from({ length: 1000 }, () => cjk(50)) } })],
  ['meta refs', T, base('c', { metadata: { references: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [cjk(50) + i, cjk(50)])) } })],
  ['meta deep 127', T, base('d', { metadata: deep(126) })], ['meta deep 200', T, base('d', { metadata: deep(200) })], ['meta deep 5000', T, base('d', { metadata: deep(3000) })],
  ['meta filter deep key', 'search_context', { metadata: { [Array(200).fill('a').join('.')]: 1 } }],
  ['meta filter status', 'search_context', { metadata: { status: cjk(10000) } }],
  ['meta filter nul', 'search_context', { metadata: { status: 'a\0b' } }], ['meta filter nul key', 'search_context', { metadata: { 'a\0b': 1 } }],
  ['meta filters nul', 'search_context', { metadata_filters: [{ key: 'status', operator: 'contains', value: 'a\0b' }] }],
  ['meta filters in nul', 'search_context', { metadata_filters: [{ key: 'status', operator: 'in', value: ['a\0b', '\ud800'] }] }],
  ['meta filters big num', 'search_context', { metadata_filters: [{ key: 'n', operator: 'gt', value: 1e308 }] }],
  ['meta big num', T, base('e', { metadata: { n: 1e308, m: 5e-324, big: 123456789012345680000 } })],
  ['nul text', T, base('a\0b')], ['nul thread', T, base('a', { thread_id: 'a\0b' })], ['nul tag', T, base('a', { tags: ['a\0b'] })], ['nul meta', T, base('a', { metadata: { a: 'b\0' } })], ['nul key', T, base('a', { metadata: { 'a\0': 'b' } })],
  ['nul idem', T, base('a', { idempotency_key: 'a\0b' })], ['half idem', T, base('a', { idempotency_key: 'a\ud800b' })], ['idem 256', T, base('a', { idempotency_key: cjk(256) })],
  ['nul search thread', 'search_context', { thread_id: 'a\0b' }], ['half search thread', 'search_context', { thread_id: 'a\ud800b' }], ['nul search tag', 'search_context', { tags: ['a\0b'] }], ['half search tag', 'search_context', { tags: ['\ud800'] }],
  ['nul list', 'list_threads', { filter: 'a\0b' }], ['half list', 'list_threads', { filter: '\ud800' }],
  ['nul fts', 'fts_search_context', { query: 'a\0b zebrafish' }], ['half fts', 'fts_search_context', { query: 'a\ud800b' }],
  ['nul fts phrase', 'fts_search_context', { query: 'a\0b zebrafish', mode: 'phrase' }], ['nul fts bool', 'fts_search_context', { query: '"a\0b" AND c', mode: 'boolean' }], ['nul prefix', 'fts_search_context', { query: 'a\0b', mode: 'prefix' }],
  ['fts 10000', 'fts_search_context', { query: words(9990) }], ['fts han 10000', 'fts_search_context', { query: cjk(9990) }], ['fts phrase han', 'fts_search_context', { query: cjk(9990), mode: 'phrase' }], ['fts bool many', 'fts_search_context', { query: Array(1500).fill('a').join(' OR '), mode: 'boolean' }], ['fts bool nested', 'fts_search_context', { query: '('.repeat(3000) + 'a' + ')'.repeat(3000), mode: 'boolean' }],
  ['fts bool nots', 'fts_search_context', { query: 'a ' + 'NOT b '.repeat(1000), mode: 'boolean' }],
  ['fts xxx', 'fts_search_context', { query: 'x'.repeat(9000) }], ['fts prefix xxx', 'fts_search_context', { query: 'x'.repeat(9000), mode: 'prefix' }],
  ['grep nul', 'grep_context', { pattern: 'a\0b' }], ['grep half', 'grep_context', { pattern: '\ud800' }],
  ['delete nul thread', 'delete_context', { thread_id: 'a\0b' }], ['delete long thread', 'delete_context', { thread_id: cjk(5000) }], ['del batch', 'delete_context_batch', { thread_ids: ['a\0b', '\ud800'], dry_run: true }], ['restore nul', 'restore_context', { thread_id: 'a\0' }],
  ['ids big', 'get_context_by_ids', { context_ids: [2 ** 53 - 1, 2 ** 40] }], ['ids neg', 'get_context_by_ids', { context_ids: [-5, 0] }],
  ['offset big', 'search_context', { offset: 2 ** 53 - 1 }], ['offset threads', 'list_threads', { offset: 2 ** 53 - 1 }], ['fts offset', 'fts_search_context', { query: 'zebrafish', offset: 2 ** 53 - 1 }], ['fts offset mid', 'fts_search_context', { query: 'zebrafish', offset: 2 ** 40 }],
  ['update wide', 'update_context', { context_id: 5, text: wide + ' more' }],
  ['image meta', T, base('img', { images: [{ data: 'aGVsbG8=', mime_type: 'image/png', metadata: { a: 'b\0' } }] })], ['image mime', T, base('img', { images: [{ data: 'aGVsbG8=', mime_type: 'image/\0' }] })], ['image mime long', T, base('img', { images: [{ data: 'aGVsbG8=', mime_type: 'image/' + cjk(5000) }] })],
  ['note long', 'save_note', note({ title: cjk(200), content: cjk(50000), tags: Array.from({ length: 10 }, () => cjk(50)), source_urls: Array.from({ length: 20 }, (_, i) => 'https://example.com/' + 'a'.repeat(1900) + i) })],
  ['note words', 'save_note', note({ title: 'w', content: words(49000) + ' ' + mark + 'd' })], ['note find', 'list_notes', { query: mark + 'd' }],
  ['note title 201', 'save_note', note({ title: cjk(201) })], ['note 50001', 'save_note', note({ content: cjk(50001) })], ['note tag long', 'save_note', note({ tags: [cjk(5000)] })], ['note tags 11', 'save_note', note({ tags: Array.from({ length: 11 }, () => cjk(5)) })],
  ['note astral', 'save_note', note({ title: '😀'.repeat(150), content: '😀'.repeat(30000) })],
  ['note url long', 'save_note', note({ source_urls: ['https://example.com/' + 'a'.repeat(10000)] })], ['note url han', 'save_note', note({ source_urls: ['https://example.com/' + cjk(1900)] })],
  ['note nul', 'save_note', note({ content: 'a\0b' })], ['note nul title', 'save_note', note({ title: 'a\0b' })], ['note nul tag', 'save_note', note({ tags: ['a\0b'] })], ['note nul url', 'save_note', note({ source_urls: ['https://e.com/a\0b'] })], ['note half', 'save_note', note({ content: 'a\ud800b' })], ['note nul idem', 'save_note', note({ idempotency_key: 'a\0b' })], ['note idem long', 'save_note', note({ idempotency_key: cjk(5000) })], ['note idem 200', 'save_note', note({ idempotency_key: cjk(200) })],
  ['notes nul', 'list_notes', { query: 'a\0b' }], ['notes nul tag', 'list_notes', { tags: ['a\0'] }], ['notes half tag', 'list_notes', { tags: ['\ud800'] }], ['notes offset', 'list_notes', { offset: 2 ** 53 - 1 }], ['notes q offset', 'list_notes', { query: 'c', offset: 2 ** 53 - 1 }], ['get note nul', 'get_note', { id: 'a\0b' }], ['get note long', 'get_note', { id: cjk(5000) }], ['del note nul', 'delete_note', { id: 'a\0b' }],
  ['kb path 1000', 'kb_addnote', { text: 'kb one ' + mark, title: title300, source_path: path1000, tags: Array.from({ length: 60 }, () => cjk(200)) }],
  ['kb path 1000 again', 'kb_addnote', { text: 'kb two ' + mark, source_path: path1000, collection: 'ok' }],
  ['kb path get', 'kb_get', { source_path: path1000 }], ['kb path 1001', 'kb_addnote', { text: 'x y', source_path: path1000 + 'x' }],
  ['kb wide', 'kb_addnote', { text: words(990_000) + ' ' + mark + 'e' }], ['kb han', 'kb_addnote', { text: cjk(990_000) + ' ' + mark + 'f' }], ['kb one', 'kb_addnote', { text: 'y'.repeat(990_000) + ' ' + mark + 'g' }],
  ['kb coll', 'kb_addnote', { text: 'kb three', collection: coll }], ['kb coll long', 'kb_addnote', { text: 'kb four', collection: cjk(300) }], ['kb tag long', 'kb_addnote', { text: 'kb five', tags: [cjk(300)] }], ['kb tags many', 'kb_addnote', { text: 'kb six', tags: Array.from({ length: 300 }, () => cjk(5)) }],
  ['kb nul', 'kb_addnote', { text: 'a\0b' }], ['kb nul title', 'kb_addnote', { text: 'a b', title: 'a\0b' }], ['kb nul path', 'kb_addnote', { text: 'a b', source_path: 'a\0b' }], ['kb nul tag', 'kb_addnote', { text: 'a b', tags: ['a\0b'] }], ['kb nul coll', 'kb_addnote', { text: 'a b', collection: 'a\0b' }],
  ['kb search nul', 'kb_search', { query: 'a\0b' }], ['kb search nul tag', 'kb_search', { query: 'a', tags: ['a\0b'] }], ['kb search nul coll', 'kb_search', { query: 'a', collection: 'a\0b' }], ['kb search half', 'kb_search', { query: '\ud800' }], ['kb search type', 'kb_search', { query: 'a', doc_type: 'a\0b' }], ['kb search tags', 'kb_search', { query: 'a', tags: Array.from({ length: 900 }, () => cjk(5)) }],
  ['kb list nul', 'kb_list', { query: 'a\0b' }], ['kb list long', 'kb_list', { query: cjk(50000) }], ['kb list tag', 'kb_list', { tag: 'a\0b' }], ['kb list many tags', 'kb_list', { tag: Array.from({ length: 900 }, () => cjk(5)).join(',') }], ['kb list offset', 'kb_list', { offset: 2 ** 53 - 1 }], ['kb list type', 'kb_list', { type: cjk(5000) }],
  ['kb get nul', 'kb_get', { source_path: 'a\0b' }], ['kb get big', 'kb_get', { document_id: 2 ** 53 - 1 }], ['kb get first', 'kb_get', { document_id: 1, first_chunk: 2 ** 53 - 1 }],
  ['kb job str', 'kb_jobs', { job_id: cjk(5000) }], ['kb job nul', 'kb_jobs', { job_id: 'a\0' }], ['kb job big', 'kb_jobs', { job_id: 2 ** 53 - 1 }], ['kb jobs offset', 'kb_jobs', { offset: 2 ** 53 - 1 }], ['kb job neg', 'kb_jobs', { job_id: -3 }],
  ['kb upload name', 'kb_upload_start', { filename: cjk(255) + '.txt', total_size: 5 }], ['kb upload name nul', 'kb_upload_start', { filename: 'a\0b.txt', total_size: 5 }], ['kb upload id', 'kb_upload_finish', { upload_id: cjk(5000) }], ['kb upload id nul', 'kb_upload_finish', { upload_id: 'a\0b' }], ['kb upload chunk nul', 'kb_upload_chunk', { upload_id: 'a\0b', data: 'aGk=', chunk_index: 0 }],
  ['kb bulk ids', 'kb_bulk_tags', { document_ids: Array.from({ length: 100000 }, (_, i) => i + 1000), add: ['x'] }], ['kb bulk add', 'kb_bulk_tags', { from_id: 1, to_id: 2 ** 53 - 1, add: [cjk(200)], force: true }], ['kb bulk nul', 'kb_bulk_tags', { from_id: 1, add: ['a\0b'] }], ['kb bulk set', 'kb_bulk_set_tags', { from_id: 1, set_tags: Array.from({ length: 63 }, () => cjk(200)), force: true }], ['kb set coll nul', 'kb_set_collection', { document_id: 1, collection: 'a\0b' }],
  ['kb jobs after bulk', 'kb_jobs', { limit: 500 }],
  ['find nul', 'find', { query: 'a\0b' }], ['find half', 'find', { query: '\ud800' }], ['find long', 'find', { query: words(9000) }], ['verify nul', 'verify', { uri: 'carrel://kb/doc/1\0', quote: 'a\0b' }], ['verify kb', 'verify', { uri: 'carrel://kb/doc/1', quote: 'a\0b' }], ['verify ctx', 'verify', { uri: 'carrel://context/1', quote: mark + 'a' }],
];
async function run(name: string, env: Record<string, string>) {
  const answers = new Map<string, string>();
  const program = await startListening(carrelProgram, ['serve', '--transport', 'http', '--port', '0'], { EMBEDDING_PROVIDER: 'none', CARREL_MESSAGE_BYTES_MAX: String(32 * 1024 * 1024), ENABLE_SUMMARY_GENERATION: 'false', RATE_LIMIT_CALLS: '0', ...env });
  try {
    const session = await openSession(program.url);
    let id = 0;
    for (const [label, tool, args] of calls) {
      const from = Date.now();
      const { text, messages, status } = await session.call(++id, tool, args);
      const m = messages[0] as any;
      const r = m?.result;
      const shape = r?.isError || m?.error ? 'ERR ' + (m?.error ? JSON.stringify(m.error) : r.content?.[0]?.text).slice(0, 260) : r ? 'ok ' + summary(r.structuredContent) : `HTTP ${status} ${text.slice(0, 200)}`;
      answers.set(label, shape);
      const ms = Date.now() - from;
      if (ms > 3000) console.log(name, label, `${ms} ms`);
      if (tool === 'kb_addnote') await new Promise((resolve) => setTimeout(resolve, 300));
    }
    // wait for jobs
    for (let i = 0; i < 300; i++) { const { messages } = await session.call(++id, 'kb_jobs', { limit: 500 }); const jobs = (messages[0] as any).result.structuredContent.jobs; if (!jobs.some((j: any) => ['queued', 'processing'].includes(j.status))) { for (const j of jobs) if (j.status === 'failed') answers.set('job ' + j.id, JSON.stringify(j).slice(0, 400)); break; } await new Promise((r) => setTimeout(r, 500)); }
    for (const s of ['e', 'f', 'g']) { const { messages } = await session.call(++id, 'kb_search', { query: mark + s, include_weak: true }); answers.set('kb find ' + s, summary((messages[0] as any).result.structuredContent)); }
  } finally { const err = program.stderrText(); await program.stop(); if (/nternal|Error/.test(err)) console.log(name, 'stderr', err.slice(0, 2000)); }
  return answers;
}
function summary(v: any): string { if (!v) return 'nothing'; const r = v.results ?? v.result ?? v.documents ?? v.notes ?? v.threads ?? v.hits ?? v.jobs; return Array.isArray(r) ? `${r.length} found ${JSON.stringify(r.map((x: any) => x.id ?? x.context_id ?? x.document_id ?? x.thread_id)).slice(0, 80)}` : Object.keys(v).join(','); }
const server = await startRealPostgres(); if (typeof server === 'string') throw new Error(server);
try {
  const db = await createTestDatabase(server);
  const [a, b] = [await run('sqlite', {}), await run('postgres', { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: db.url })];
  for (const [label, x] of a) { const y = b.get(label); console.log(x === y ? 'same' : 'DIFF', label, '|', x.slice(0, 200), ...(x === y ? [] : ['|||', (y ?? '').slice(0, 260)])); }
  for (const [label, y] of b) if (!a.has(label)) console.log('ONLY PG', label, y);
} finally { await server.stop(); }
