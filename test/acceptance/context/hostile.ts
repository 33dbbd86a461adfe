import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../support/verifies.ts';
import type { ContextServer } from './context-fixture.ts';

export function hostileInputs(server: ContextServer): void {
  const { call, fail, store } = server;
  const one = async (id: number) => (await call('get_context_by_ids', { context_ids: [id] })).result[0];

  test('upstreams 1.1, 1.2: integers and booleans as text, JSON within JSON', async () => {
    const id = await store('texts', 'loosely typed', { tags: JSON.stringify('["Loose"]'), metadata: '{"n":1}' });
    const found = await call('search_context', { thread_id: 'texts', limit: '1', offset: '0', explain_query: 'True' });
    assert.deepEqual([found['count'], typeof found['stats']], [1, 'object']);
    assert.deepEqual((await call('get_context_by_ids', { context_ids: [String(id)] })).result[0]?.['tags'], ['loose']);
    assert.match(await fail('search_context', { limit: 'ten' }), /limit must be a number/);
  });

  test('rejects NUL in stored text, and finds nothing by it', async () => {
    const good = { thread_id: 'nul', source: 'user', text: 'x' };
    for (const [name, part] of [
      ['text', { text: 'a\0b' }],
      ['thread_id', { thread_id: 'a\0b' }],
      ['a tag', { tags: ['a', 'b\0'] }],
      ['metadata.a[0]', { metadata: { a: ['\0'] } }],
      ['A key in metadata.a', { metadata: { a: { 'b\0': 1 } } }],
      ['images[0].metadata', { images: [{ data: 'YWJj', metadata: 'a\0' }] }],
    ] as const) {
      const message = `${name} has the character NUL (U+0000), which cannot be stored; leave it out`;
      assert.equal(await fail('store_context', { ...good, ...part }), message);
    }
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const query = tool === 'search_context' ? {} : { query: 'a\0b' };
      assert.equal((await call(tool, { ...query, thread_id: 'a\0b', tags: ['b\0'] }))['count'], 0, tool);
    }
    assert.equal((await call('delete_context', { thread_id: 'a\0b' }))['deleted_count'], 0);
  });

  test('names an exceeded limit and the size', async () => {
    const good = { thread_id: 'bounds', source: 'user', text: 'x' };
    for (const [part, message] of [
      [{ thread_id: 'x'.repeat(513) }, 'thread_id has 513 characters; the maximum is 512'],
      [{ text: 'x'.repeat(2_000_001) }, 'text has 2000001 characters; the maximum is 2000000'],
      [{ tags: Array.from({ length: 101 }, (_, n) => `${n}`) }, 'tags has 101 distinct tags; the maximum is 100'],
      [{ tags: ['x'.repeat(257)] }, 'a tag has 257 characters; the maximum is 256'],
      [{ metadata: { a: Array(2_000).fill(0) } }, 'metadata has 2002 values; the maximum is 2000'],
      [{ metadata: { a: 'x'.repeat(2 ** 20) } }, 'metadata has 1048584 characters as JSON; the maximum is 1048576'],
      // As text it is not bounded by the protocol.
      [{ metadata: `{"a":${nested(128)}}` }, 'metadata has more than 128 levels of nested objects and lists'],
      [{ metadata: `{"a":${nested(50_000)}}` }, 'metadata has more than 128 levels of nested objects and lists'],
      [{ images: Array(101).fill({ data: 'YWJj' }) }, 'images has 101 images; the maximum is 100'],
    ] as const) {
      assert.equal(await fail('store_context', { ...good, ...part }), message);
    }
    const deep = await store('bounds', 'deep', { metadata: `{"a":${nested(127)}}` });
    assert.equal(JSON.stringify((await one(deep))?.['metadata']), `{"a":${nested(127)}}`);
    const ids = Array(1_001).fill(1);
    assert.match(
      await fail('get_context_by_ids', { context_ids: ids }),
      /context_ids must have at most 1000 items, and has 1001/,
    );
    const days = { older_than_days: 36_501 };
    assert.match(await fail('delete_context_batch', days), /older_than_days must be at most 36500, not 36501/);
    assert.match(
      await fail('fts_search_context', { query: 'x'.repeat(10_001) }),
      /query has 10001 characters; .* 10000/,
    );
    const list = { metadata_filters: [{ key: 'a', operator: 'in', value: Array(1_001).fill(1) }] };
    assert.match(String((await call('search_context', list))['validation_errors']), /in has 1001 values; .* 1000/);
  });

  test('keys with special names are plain data', async () => {
    const metadata = JSON.parse('{"__proto__":{"a":1,"b":{"c":2}},"constructor":"c","toString":null}');
    const id = await store('proto', 'a key like any other', { metadata });
    assert.equal(JSON.stringify((await one(id))?.['metadata']), JSON.stringify(metadata));
    const count = async (filter: object) => (await call('search_context', { thread_id: 'proto', ...filter }))['count'];
    assert.equal(await count({ metadata: JSON.parse('{"__proto__":"x"}') }), 0);
    assert.equal(await count({ metadata_filters: [{ key: '__proto__.b.c', value: 2 }] }), 1);
    assert.equal(await count({ metadata_filters: [{ key: 'hasOwnProperty', operator: 'exists' }] }), 0);
    const patch = JSON.parse('{"__proto__":{"a":null,"d":3},"constructor":null}');
    await call('update_context', { context_id: id, metadata_patch: patch });
    const left = '{"__proto__":{"b":{"c":2},"d":3},"toString":null}';
    assert.equal(JSON.stringify((await one(id))?.['metadata']), left);
  });

  test('rejects lone surrogates everywhere, and changes nothing similar', async () => {
    const good = { thread_id: 'halves', source: 'user', text: 'x' };
    const bad = [
      ...[{ text: 'a\ud800' }, { thread_id: '\udc00x' }, { tags: ['\ud83d'] }, { metadata: { 'k\ud800': 1 } }],
      ...[{ metadata: { a: ['x', { deep: 'a\ud83d' }] } }, { images: [{ data: 'YWJj', metadata: '\ud800' }] }],
    ];
    for (const part of bad) {
      assert.match(await fail('store_context', { ...good, ...part }), /half of a surrogate pair/, JSON.stringify(part));
    }
    const metadata = { ok: '😀', escape: '\\ud800', '\\\\ud800': '\\' };
    const id = await store('halves', '\\ud800 😀', { metadata });
    assert.deepEqual([(await one(id))?.['metadata'], (await one(id))?.text_content], [metadata, '\\ud800 😀']);
    assert.match(await fail('update_context', { context_id: id, text: '\ud800' }), /text has half of a surrogate pair/);
  });

  verifies('002 structure/stats', 'explain_query also reports statistics for a search with a bad filter', async () => {
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const query = tool === 'search_context' ? {} : { query: 'x' };
      const answer = await call(tool, { ...query, metadata_filters: [{ key: '' }], explain_query: true });
      assert.equal(typeof (answer['stats'] as Record<string, unknown>)['execution_time_ms'], 'number', tool);
    }
  });

  test('upstreams 1.12: a batch of updates names the id and index of missing entries', async () => {
    const id = await store('batch faults', 'one');
    const message = await fail('update_context_batch', {
      updates: [
        { context_id: id, text: 'two' },
        { context_id: 999_999, text: 'x' },
      ],
    });
    assert.equal(message, 'Context entry with ID 999999 not found (index 1); nothing was changed');
    assert.equal((await one(id))?.text_content, 'one');
    assert.equal(
      await fail('update_context', { context_id: 999_999, text: 'x' }),
      'Context entry with ID 999999 not found',
    );
  });

  test('metadata does not outgrow its bound by patches', async () => {
    const id = await store('growth', 'x', { metadata: { a: 'a'.repeat(600_000) } });
    const patch = { b: 'b'.repeat(600_000) };
    assert.match(
      await fail('update_context', { context_id: id, metadata_patch: patch }),
      /metadata would have 1200015 characters as JSON with this patch; the limit is 1048576/,
    );
    await call('update_context', { context_id: id, metadata_patch: { a: null, ...patch } });
    assert.deepEqual(Object.keys((await one(id))?.['metadata'] as object), ['b']);
  });

  test('dry_run counts all that would go and names the first hundred', async () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({
      thread_id: 'dry',
      source: 'user',
      text: `dry ${index}`,
    }));
    for (const more of ['a', 'b']) {
      await call('store_context_batch', { entries: entries.map((entry) => ({ ...entry, text: entry.text + more })) });
    }
    const dry = await call('delete_context', { thread_id: 'dry', dry_run: true });
    assert.deepEqual([dry['deleted_count'], dry['would_delete_count']], [0, 120]);
    assert.equal((dry['would_delete_ids'] as number[]).length, 100);
  });

  test('contract §3: a search right after a batch finds it by meaning, or reports how much is missing', async () => {
    const entries = Array.from({ length: 100 }, (_, index) => ({
      thread_id: `fresh ${index % 2}`,
      source: 'user',
      text:
        index === 97 ? 'We adopted a kitten from the shelter' : `Line ${index} is about trains and railway stations`,
    }));
    await call('store_context_batch', { entries });
    const filter = { query: 'new pet', thread_id: 'fresh 1', limit: 1 };
    const answer = await call('semantic_search_context', filter);
    const [first] = answer['warnings'] === undefined ? [] : (answer['warnings'] as string[]);
    // On a busy machine the search may time out. It then reports so, and answers from the entries it searched.
    if (first === undefined) assert.match(answer.results[0]?.text_content ?? '', /kitten/);
    else assert.ok(Number(/^(\d+) of the searched entries/.exec(first)?.[1]) <= 50, first);
    const statistics = await call('get_statistics');
    const semantic = statistics['semantic_search'] as Record<string, number>;
    assert.equal((semantic['pending_count'] ?? 0) + (semantic['context_count'] ?? 0), statistics['total_entries']);
  });
}

/** A number nested in this many lists. */
function nested(levels: number): string {
  return `${'['.repeat(levels)}1${']'.repeat(levels)}`;
}
