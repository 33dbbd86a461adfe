import assert from 'node:assert/strict';
import { verifies } from '../../support/verifies.ts';
import type { ContextServer } from './context-fixture.ts';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64');
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function coreTools(server: ContextServer): void {
  const { call, fail, store } = server;
  const one = async (id: number) => {
    const [entry] = (await call('get_context_by_ids', { context_ids: [id] })).result;
    assert.ok(entry);
    return entry;
  };

  verifies('002 overview/tools', 'lists the thirteen tools with titles, annotations and schemas', async () => {
    const { tools } = await server.client.listTools();
    const names = tools.map(({ name }) => name);
    const core = ['store_context', 'search_context', 'get_context_by_ids', 'delete_context', 'update_context'];
    const more = ['list_threads', 'get_statistics', 'semantic_search_context', 'fts_search_context'];
    const rest = ['hybrid_search_context', 'store_context_batch', 'update_context_batch', 'delete_context_batch'];
    for (const name of [...core, ...more, ...rest]) assert.ok(names.includes(name), name);
    const annotations = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
    assert.equal(annotations['search_context']?.readOnlyHint, true);
    assert.equal(annotations['delete_context']?.destructiveHint, true);
    assert.equal(annotations['store_context']?.destructiveHint, false);
    for (const tool of tools) assert.ok(tool.title && tool.outputSchema && tool.description);
  });

  verifies(
    [
      '002 store_context/returns',
      '002 store_context/tags',
      '002 store_context/metadata',
      '002 get_context_by_ids/returns',
    ],
    'returns an entry as it was stored',
    async () => {
      const text = `Ünïcode 大阪 😀 ${'long '.repeat(200)}end`;
      const metadata = { status: 'active', nested: { deep: [1, 'two', null, true] }, empty: {}, 'with.dot': 1 };
      const answer = await call('store_context', {
        ...{ thread_id: ' t ', source: 'user', text: `  ${text}\n`, metadata },
        tags: [' Beta', 'alpha', 'BETA', '', ' '],
      });
      assert.equal(answer['success'], true);
      assert.equal(typeof answer['context_id'], 'number');
      assert.equal(answer['thread_id'], 't');
      assert.match(String(answer['message']), /^Context stored/);
      const entry = await one(Number(answer['context_id']));
      assert.equal(entry.text_content, text);
      assert.deepEqual(entry['metadata'], metadata);
      assert.deepEqual(entry['tags'], ['alpha', 'beta']);
      assert.deepEqual([entry['thread_id'], entry['source'], entry['content_type']], ['t', 'user', 'text']);
      assert.match(String(entry['created_at']), iso);
      assert.equal(entry['updated_at'], entry['created_at']);
      assert.ok(!('images' in entry) && !('is_text_content_truncated' in entry));
    },
  );

  verifies(
    ['002 store_context/thread_id', '002 store_context/source', '002 store_context/text'],
    'names missing, blank and mistyped arguments',
    async () => {
      const good = { thread_id: 't', source: 'user', text: 'x' };
      assert.match(await fail('store_context', { ...good, thread_id: undefined }), /thread_id/);
      assert.match(
        await fail('store_context', { ...good, thread_id: '  ' }),
        /thread_id cannot be empty or whitespace/,
      );
      for (const blank of [' \n', '\u200b', '\u2060\u00ad ']) {
        assert.match(await fail('store_context', { ...good, text: blank }), /text cannot be empty or whitespace/);
        assert.match(await fail('hybrid_search_context', { query: blank }), /query cannot be empty or whitespace/);
      }
      assert.match(await fail('store_context', { ...good, source: 'system' }), /source must be one of user, agent/);
      assert.match(await fail('store_context', { ...good, unknown: 1 }), /unknown/);
    },
  );

  verifies(
    ['002 store_context/images', '002 get_context_by_ids/include_images'],
    'an entry with images is multimodal; images must be bounded base64 and are returned on request',
    async () => {
      const images = [
        { data: png, mime_type: 'image/gif' },
        { data: png, metadata: '{"alt":"x"}' },
        { data: 'PHN2\nZz48L3N2\nZz4=\n', mime_type: 'image/svg+xml', metadata: { alt: 'y' } },
      ];
      const id = await store('images', 'with pictures', { images });
      const entry = await one(id);
      assert.equal(entry['content_type'], 'multimodal');
      assert.deepEqual(entry['images'], [
        { data: png, mime_type: 'image/png' },
        { data: png, mime_type: 'image/png', metadata: '{"alt":"x"}' },
        { data: 'PHN2Zz48L3N2Zz4=', mime_type: 'image/svg+xml', metadata: { alt: 'y' } },
      ]);
      const [bare] = (await call('get_context_by_ids', { context_ids: [id], include_images: false })).result;
      assert.ok(bare && !('images' in bare));
      const bad = (image: object) =>
        fail('store_context', { thread_id: 'i', source: 'user', text: 'x', images: [image] });
      assert.match(await bad({}), /Image 0 is missing required "data" field/);
      assert.match(await bad({ data: '' }), /Image 0 has empty "data" field/);
      assert.match(await bad({ data: 'not base64!' }), /Image 0 has invalid base64 encoding/);
      assert.match(await bad({ data: png, mime_type: 'no type' }), /mime_type/);
      const big = Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64');
      assert.match(await bad({ data: big }), /Image 0 exceeds 10MB limit/);
    },
  );

  verifies(
    '002 get_context_by_ids/context_ids',
    'returns each entry once, newest first, and skips unknown ids',
    async () => {
      const [a, b] = [await store('order', 'first'), await store('order', 'second')];
      const { result } = await call('get_context_by_ids', { context_ids: [a, 999_999, b, a] });
      assert.deepEqual(
        result.map(({ id }) => id),
        [b, a],
      );
      assert.match(await fail('get_context_by_ids', { context_ids: [] }), /context_ids/);
    },
  );

  verifies(
    [
      '002 update_context/text',
      '002 update_context/tags',
      '002 update_context/immutable',
      '002 update_context/returns',
    ],
    'replaces only the given fields, and sets updated_at',
    async () => {
      const id = await store('update', 'before', { tags: ['one'], metadata: { a: 1 } });
      const before = await one(id);
      const answer = await call('update_context', { context_id: id, text: ' after ', tags: ['Two', 'two'] });
      assert.equal(answer['success'], true);
      assert.equal(answer['context_id'], id);
      assert.deepEqual(answer['updated_fields'], ['text_content', 'tags', 'embedding']);
      assert.match(String(answer['message']), /^Successfully updated 3 field\(s\)/);
      const entry = await one(id);
      assert.deepEqual([entry.text_content, entry['tags'], entry['metadata']], ['after', ['two'], { a: 1 }]);
      for (const field of ['id', 'thread_id', 'source', 'created_at']) assert.equal(entry[field], before[field]);
      assert.ok(String(entry['updated_at']) > String(before['updated_at']));
    },
  );

  verifies(
    ['002 update_context/metadata', '002 update_context/metadata_patch', '002 update_context/one-field'],
    'metadata is replaced or merged, never both',
    async () => {
      const id = await store('patch', 'text', { metadata: { status: 'open', draft: true, deep: { x: 1, y: [1, 2] } } });
      const patch = { status: 'completed', reviewer: 'alice', draft: null, deep: { x: null, y: [3] } };
      const answer = await call('update_context', { context_id: id, metadata_patch: patch });
      assert.deepEqual(answer['updated_fields'], ['metadata']);
      assert.deepEqual((await one(id))['metadata'], { status: 'completed', deep: { y: [3] }, reviewer: 'alice' });
      await call('update_context', { context_id: id, metadata: { only: null } });
      assert.deepEqual((await one(id))['metadata'], { only: null });
      await call('update_context', { context_id: id, metadata_patch: { only: 1 } });
      await call('update_context', { context_id: id, metadata_patch: { only: null } });
      assert.deepEqual((await one(id))['metadata'], {});
      const empty = await store('patch', 'nothing in it', { metadata: {} });
      assert.deepEqual((await one(empty))['metadata'], {});
      assert.equal((await one(await store('patch', 'none')))['metadata'], null);
      assert.match(
        await fail('update_context', { context_id: id, metadata: {}, metadata_patch: {} }),
        /^Cannot use both metadata and metadata_patch parameters together\./,
      );
      assert.match(await fail('update_context', { context_id: id }), /At least one field must be provided for update/);
      assert.match(
        await fail('update_context', { context_id: 999_999, tags: [] }),
        /Context entry with ID 999999 not found/,
      );
    },
  );

  verifies('002 update_context/images', 'content_type follows the images', async () => {
    const id = await store('update images', 'text');
    const added = await call('update_context', { context_id: id, images: [{ data: png }] });
    assert.deepEqual(added['updated_fields'], ['images', 'content_type']);
    const again = await call('update_context', { context_id: id, images: [{ data: png }] });
    assert.deepEqual(again['updated_fields'], ['images', 'content_type'], 'whatever it was before');
    assert.equal((await one(id))['content_type'], 'multimodal');
    await call('update_context', { context_id: id, images: [] });
    assert.equal((await one(id))['content_type'], 'text');
  });

  verifies(
    ['002 delete_context/context_ids', '002 delete_context/thread_id', '002 delete_context/returns'],
    'deletes entries by id or thread, and nothing without a criterion',
    async () => {
      const [a, b, c] = [await store('del', 'a'), await store('del', 'b'), await store('del', 'c')];
      const answer = await call('delete_context', { context_ids: [a, 999_999] });
      assert.deepEqual(answer, { success: true, deleted_count: 1, message: 'Successfully deleted 1 context entries' });
      assert.deepEqual((await call('get_context_by_ids', { context_ids: [a] })).result, []);
      assert.equal((await call('delete_context', { thread_id: 'del' }))['deleted_count'], 2);
      assert.deepEqual((await call('get_context_by_ids', { context_ids: [b, c] })).result, []);
      assert.match(await fail('delete_context'), /Must provide either context_ids or thread_id/);
      for (const input of [{ context_ids: [] }, { thread_id: '' }, { context_ids: [b], thread_id: 'del' }]) {
        await fail('delete_context', input);
      }
      assert.equal((await call('delete_context', { thread_id: '%' }))['deleted_count'], 0);
    },
  );

  verifies(
    ['002 list_threads/returns', '002 get_statistics/returns'],
    'threads and statistics count the stored entries',
    async () => {
      await store('stats', 'one', { tags: ['stat-tag'], images: [{ data: png }] });
      await store('stats', 'two', { source: 'agent' });
      const { threads, total_threads: total } = await call('list_threads');
      assert.ok(Array.isArray(threads));
      assert.equal(threads.length, total);
      const [first] = threads;
      const { first_entry: from, last_entry: to, last_id: last, ...rest } = first;
      assert.deepEqual(rest, { thread_id: 'stats', entry_count: 2, source_types: 2, multimodal_count: 1 });
      assert.ok(from <= to && typeof last === 'number');
      const statistics = await call('get_statistics');
      const keys = ['total_entries', 'by_source', 'by_content_type', 'total_images', 'unique_tags', 'total_threads'];
      const more = ['avg_entries_per_thread', 'most_active_threads', 'top_tags', 'backend', 'database_size_mb'];
      const parts = ['connection_metrics', 'semantic_search', 'fts', 'chunking', 'reranking', 'summary'];
      assert.deepEqual(Object.keys(statistics), [...keys, ...more, ...parts]);
      const { total_queries: queries, ...metrics } = statistics['connection_metrics'] as Record<string, unknown>;
      assert.ok(Number(queries) > 0);
      const pooled = server.backend === 'postgresql';
      const own = pooled
        ? ['pool_size', 'pool_idle', 'pool_min_size', 'pool_max_size']
        : ['total_connections', 'active_connections', 'failed_connections', 'write_queue_size'];
      for (const key of own) assert.ok(Number.isInteger(metrics[key]), key);
      assert.ok(Number(metrics[pooled ? 'pool_size' : 'total_connections']) >= 1);
      assert.equal(metrics['circuit_state'], 'healthy');
      assert.deepEqual([metrics['failed_queries'], metrics['last_error']], [0, null]);
      assert.equal(statistics['total_threads'], total);
      assert.equal(statistics['backend'], server.backend);
      const fts = statistics['fts'] as Record<string, unknown>;
      assert.equal(fts['indexed_entries'], statistics['total_entries']);
      assert.equal(fts['engine'], server.backend === 'sqlite' ? 'fts5' : 'tsvector');
      const semantic = statistics['semantic_search'] as Record<string, unknown>;
      assert.deepEqual([semantic['enabled'], semantic['available']], [true, true]);
    },
  );

  verifies(
    ['002 store_context_batch/entries', '002 store_context_batch/atomic', '002 store_context_batch/returns'],
    'stores a batch atomically by default, or partially on request',
    async () => {
      const good = { thread_id: 'batch', source: 'agent', text: 'batch one', metadata: { k: 1 }, tags: ['b'] };
      const bad = { thread_id: 'batch', source: 'robot', text: 'x' };
      const message = await fail('store_context_batch', { entries: [good, bad] });
      assert.match(message, /index 1: Missing or invalid source \(must be "user" or "agent"\)/);
      assert.equal((await call('search_context', { thread_id: 'batch' }))['count'], 0);
      const { results, ...rest } = await call('store_context_batch', {
        entries: [good, bad, { ...good, text: 'two' }],
        atomic: false,
      });
      assert.deepEqual([rest['success'], rest['total'], rest['succeeded'], rest['failed']], [false, 3, 2, 1]);
      assert.match(String(rest['message']), /^Stored 2\/3 entries successfully/);
      assert.deepEqual(
        results.map((row) => [row['index'], row['success'], row['context_id'] !== null, row['error'] !== null]),
        [
          [0, true, true, false],
          [1, false, false, true],
          [2, true, true, false],
        ],
      );
      const many = Array.from({ length: 101 }, (_, index) => ({ ...good, text: `${index}` }));
      assert.match(await fail('store_context_batch', { entries: many }), /at most 100/);
      assert.equal((await call('store_context_batch', { entries: many.slice(1) }))['succeeded'], 100);
    },
  );

  verifies(
    ['002 update_context_batch/updates', '002 update_context_batch/atomic', '002 update_context_batch/returns'],
    'updates a batch atomically or partially',
    async () => {
      const id = await store('ub', 'text');
      const updates = [{ context_id: id, tags: ['x'] }, { context_id: 999_999, tags: ['y'] }, { context_id: id }];
      await fail('update_context_batch', { updates: updates.slice(0, 2) });
      assert.deepEqual((await one(id))['tags'], []);
      const { results, ...rest } = await call('update_context_batch', { updates, atomic: false });
      assert.deepEqual([rest['success'], rest['total'], rest['succeeded'], rest['failed']], [false, 3, 1, 2]);
      assert.deepEqual(
        results.map((row) => [row['index'], row['context_id'], row['success'], row['updated_fields'], row['error']]),
        [
          [0, id, true, ['tags'], null],
          [1, 999_999, false, null, 'Context entry with ID 999999 not found'],
          [2, id, false, null, 'At least one field must be provided for update'],
        ],
      );
      assert.deepEqual((await one(id))['tags'], ['x']);
    },
  );

  verifies(
    ['002 delete_context_batch/criteria', '002 delete_context_batch/returns'],
    'combines criteria, and rejects source alone',
    async () => {
      await store('db1', 'user one');
      await store('db1', 'agent one', { source: 'agent' });
      await store('db2', 'user two');
      const dry = await call('delete_context_batch', { thread_ids: ['db1', 'db2'], source: 'user', dry_run: true });
      assert.equal((dry['would_delete_ids'] as number[]).length, 2);
      const answer = await call('delete_context_batch', { thread_ids: ['db1', 'db2'], source: 'user' });
      assert.deepEqual(answer, {
        success: true,
        deleted_count: 2,
        criteria_used: ['thread_ids: 2 threads', 'source: user'],
        message: 'Successfully deleted 2 context entries',
      });
      assert.equal((await call('search_context', { thread_id: 'db1' }))['count'], 1);
      assert.equal((await call('delete_context_batch', { older_than_days: 5 }))['deleted_count'], 0);
      assert.match(await fail('delete_context_batch'), /context_ids, thread_ids, source, or older_than_days/);
      assert.match(await fail('delete_context_batch', { source: 'user' }), /combined/);
      for (const days of [0, -1, 1e9, 1.5]) await fail('delete_context_batch', { older_than_days: days });
    },
  );

  verifies('002 store_context/returns', 'a repeated write with the same idempotency key is done once', async () => {
    const input = { thread_id: 'idem', source: 'user', text: 'once', idempotency_key: `key ${server.backend}` };
    const first = await call('store_context', input);
    await store('idem', 'an answer', { source: 'agent' });
    assert.deepEqual(await call('store_context', input), first);
    assert.match(await fail('store_context', { ...input, text: 'other' }), /idempotency_key was already used/);
    assert.equal((await call('search_context', { thread_id: 'idem' }))['count'], 2);
  });

  verifies('002 store_context/returns', 'upstreams 1.4: repeating the last entry updates it', async () => {
    const id = await store('dedup', 'said twice');
    const again = await call('store_context', {
      thread_id: 'dedup',
      source: 'user',
      text: 'said twice',
      metadata: { n: 2 },
    });
    assert.equal(again['context_id'], id);
    assert.match(String(again['message']), /^Context updated/);
    assert.deepEqual((await one(id))['metadata'], { n: 2 });
  });

  verifies('002 store_context/tags', 'contract §2: accepts JSON text for arrays and objects', async () => {
    const id = await store('json', 'as text', { tags: '["a"]', metadata: '{"k": [1]}' });
    const entry = await one(id);
    assert.deepEqual([entry['tags'], entry['metadata']], [['a'], { k: [1] }]);
  });
}
