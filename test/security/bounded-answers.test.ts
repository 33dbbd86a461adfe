import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { carrelProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { openSession, type RawSession } from '../support/raw-http.ts';
import { size } from '../support/sizes.ts';

/** The contract's default of ANSWER_MAX_BYTES. */
const answerBytesMax = 4 * 1024 * 1024;
/** The full number makes unbounded answers exceed `memoryMax`. */
const entryCount = size({ quick: 7, full: 30 });
/** Whether the reranker reads the entries, too. Its memory matters only with the full number. */
const reranks = size({ quick: 0, full: 1 }) === 1;
/** Limit for the whole program with the reranker. Unbounded answers took more than twice as much. */
const memoryMax = 640 * 1024 * 1024;

/** Contract §8: no answer exceeds ANSWER_MAX_BYTES, and each says how to get the rest. */
describe('answers from entries of a megabyte', () => {
  let program: ListeningProgram;
  let session: RawSession;
  let ids: number[] = [];
  let calls = 0;
  const sentence = 'the quick brown fox asks "for\tknowledge" in many places, ';
  const text = sentence.repeat(16_500);

  async function call(name: string, args: object) {
    calls += 1;
    const { text: body, messages } = await session.call(calls, name, args);
    const bytes = Buffer.byteLength(body);
    assert.ok(bytes <= answerBytesMax, `${name} answers with ${bytes} bytes`);
    const { structuredContent } = messages[0]?.result ?? {};
    assert.ok(structuredContent, body.slice(0, 500));
    return structuredContent as Record<string, unknown>;
  }

  before(async () => {
    const env = { ENABLE_RERANKING: String(reranks), ENABLE_SUMMARY_GENERATION: 'false' };
    program = await startListening(carrelProgram, ['context', '--transport', 'http', '--port', '0'], env);
    session = await openSession(program.url);
    for (let index = 0; index < entryCount; index += 1) {
      const stored = await call('store_context', { thread_id: 't', source: 'user', text: `${text}${index}` });
      ids.push(Number(stored['context_id']));
    }
    ids = ids.toReversed();
  });

  after(async () => {
    const { peak } = program.memory();
    await program.stop();
    assert.ok(peak <= memoryMax, `it took ${Math.round(peak / 1024 / 1024)} MB`);
  });

  test('fts_search_context with highlight continues at next_offset, and loses no entry', async () => {
    const seen: number[] = [];
    for (let offset = 0; seen.length < 4; ) {
      const answer = await call('fts_search_context', { query: 'fox', limit: 100, offset, highlight: true });
      const results = answer['results'] as { id: number; highlighted: string }[];
      assert.ok(results.length > 0);
      assert.match(results[0]?.highlighted ?? '', /<mark>fox<\/mark>/);
      assert.equal(answer['truncated'], true);
      assert.equal(answer['has_more'], true);
      assert.match(String(answer['hint']), /omitted_ids/);
      assert.equal((answer['omitted_ids'] as number[]).length, entryCount - offset - results.length);
      seen.push(...results.map(({ id }) => id));
      offset = Number(answer['next_offset']);
      assert.equal(offset, seen.length);
    }
    assert.equal(new Set(seen).size, seen.length);
  });

  test('get_context_by_ids returns a list of whole entries, newest first, and names the others', async () => {
    let wanted = ids;
    const seen: number[] = [];
    while (seen.length < 4) {
      const answer = await call('get_context_by_ids', { context_ids: wanted });
      const result = answer['result'] as { id: number; text_content: string }[];
      assert.ok(Array.isArray(result) && result.length > 0);
      for (const { text_content: whole } of result) assert.ok(whole.startsWith(text));
      seen.push(...result.map(({ id }) => id));
      wanted = answer['omitted_ids'] as number[];
      assert.equal(answer['missing_ids'], undefined);
      assert.equal(answer['omitted_next'], `get_context_by_ids(context_ids=[${wanted.join(', ')}])`);
    }
    assert.deepEqual([...seen, ...wanted], ids);
  });

  test('a search without highlight shows all its entries', async () => {
    for (const [tool, args] of [
      ['fts_search_context', { query: 'fox', limit: 100 }],
      ['search_context', { limit: 100 }],
      ['hybrid_search_context', { query: 'fox', limit: 100 }],
    ] as const) {
      const answer = await call(tool, args);
      assert.equal((answer['results'] as unknown[]).length, entryCount, tool);
      assert.equal(answer['truncated'], undefined);
    }
  });

  test('grep_context continues at next_cursor', async () => {
    const lines = Array.from({ length: 60 }, (_, line) => `${line} ${'needle '.repeat(1900)}`).join('\n');
    const { context_id: id } = await call('store_context', { thread_id: 'long', source: 'user', text: lines });
    const args = { pattern: 'needle', thread_id: 'long', max_matches: 1000, context_lines: 4 };
    // On a busy machine a text may exceed its time limit.
    const grep = async (more: object): ReturnType<typeof call> => {
      const answer = await call('grep_context', { ...args, ...more });
      return answer['timed_out_context_ids'] === undefined ? answer : grep(more);
    };
    const first = await grep({});
    assert.equal(first['truncated'], true);
    const last = (first['results'] as { line_number: number; match_start: number }[]).at(-1);
    const second = await grep({ cursor: first['next_cursor'] });
    const [next] = second['results'] as { context_id: number; line_number: number; match_start: number }[];
    assert.equal(next?.context_id, id);
    assert.equal(next?.line_number, last?.line_number);
  });

  test('navigate_context of a text with only headings, and read_context_range of everything', async () => {
    const headings = '# a\n## b\n'.repeat(100_000);
    const { context_id: id } = await call('store_context', { thread_id: 'h', source: 'user', text: headings });
    const outline = await call('navigate_context', { context_id: id });
    assert.equal(outline['truncated'], true);
    const quotes = '"'.repeat(1_000_000);
    const stored = await call('store_context', { thread_id: 'q', source: 'user', text: quotes });
    let read = '';
    for (let start = 0; start < quotes.length; ) {
      const range = { context_id: stored['context_id'], start_char: start, end_char: quotes.length };
      const part = await call('read_context_range', range);
      read += String(part['text']);
      start = Number(part['end_char']);
    }
    assert.equal(read, quotes);
    const cut = await call('get_context_by_ids', { context_ids: [stored['context_id']] });
    const [note] = cut['cut'] as { returned_chars: number; total_chars: number; next: string }[];
    assert.equal(note?.total_chars, quotes.length);
    assert.match(note?.next ?? '', /^read_context_range\(context_id=\d+, start_char=\d+\)$/);
  });

  test('images that do not fit are resources, which are read in parts', async () => {
    const data = Buffer.alloc(2_500_000, 7);
    const images = [{ data: data.toString('base64'), mime_type: 'application/octet-stream' }];
    const stored = await call('store_context', { thread_id: 'i', source: 'user', text: 'a picture', images });
    const answer = await call('get_context_by_ids', { context_ids: [stored['context_id']] });
    const [entry] = answer['result'] as { text_content: string; images?: unknown }[];
    assert.equal(entry?.text_content, 'a picture');
    assert.equal(entry?.images, undefined);
    const uri = `carrel://context/${stored['context_id']}/images/0`;
    assert.ok(String(answer['hint']).includes(uri));
    const parts: Buffer[] = [];
    for (let cursor: unknown; ; ) {
      calls += 1;
      const params = cursor === undefined ? { uri } : { uri, cursor };
      const { text: body, messages } = await session.send({
        jsonrpc: '2.0',
        id: calls,
        method: 'resources/read',
        params,
      });
      assert.ok(Buffer.byteLength(body) <= answerBytesMax);
      const result = messages[0]?.result as { contents: { blob: string }[]; nextCursor?: string };
      parts.push(Buffer.from(result.contents[0]?.blob ?? '', 'base64'));
      cursor = result.nextCursor;
      if (cursor === undefined) break;
    }
    assert.ok(Buffer.concat(parts).equals(data));
  });

  test('many at once are served, and the answers to a batch are bounded together', async () => {
    const all = Array.from({ length: 8 }, () => call('get_context_by_ids', { context_ids: ids }));
    await Promise.all(all);
    const old = await openSession(program.url, '2025-03-26');
    const params = { name: 'get_context_by_ids', arguments: { context_ids: ids } };
    const batch = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const { text: body } = await old.send(batch);
    assert.ok(Buffer.byteLength(body) <= answerBytesMax);
    const answers = JSON.parse(body) as { id: number; error?: { data: { code: string } } }[];
    assert.deepEqual(answers.map(({ id }) => id).toSorted(), [1, 2, 3]);
    const refused = answers.flatMap(({ error }) => error?.data.code ?? []);
    assert.ok(refused.length > 0 && refused.every((code) => code === 'answer_too_large'));
  });
});

test('ANSWER_MAX_BYTES sets the bound', async (t) => {
  const env = { EMBEDDING_PROVIDER: 'none', ANSWER_MAX_BYTES: '65536' };
  const program = await startListening(carrelProgram, ['context', '--transport', 'http', '--port', '0'], env);
  t.after(() => program.stop());
  const session = await openSession(program.url);
  const entry = { thread_id: 't', source: 'user', text: 'word '.repeat(20_000) };
  await session.call(1, 'store_context', entry);
  const { text } = await session.call(2, 'get_context_by_ids', { context_ids: [1] });
  assert.ok(Buffer.byteLength(text) <= 65_536);
  assert.match(text, /read_context_range/);
});
