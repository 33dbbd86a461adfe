import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, ContextServer } from './context-fixture.ts';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64');

export function memoryAsItWas(server: ContextServer): void {
  const { call, fail, store } = server;
  const ids = (answer: Answer) => answer.results.map(({ id }) => id);
  /** The current time, distinct from the times of all steps before and after. */
  const moment = async () => {
    await pause(5);
    const now = new Date().toISOString();
    await pause(5);
    return now;
  };

  test('as_of: searches and gets show texts, tags, metadata and images of then', async () => {
    const changed = await store('past', 'The otter plan: build a raft.', {
      tags: ['draft'],
      metadata: { status: 'open', priority: 1 },
      images: [{ data: png }],
    });
    const removed = await store('past', 'The otter budget.', { source: 'agent', metadata: { status: 'open' } });
    const then = await moment();
    await call('update_context', {
      ...{ context_id: changed, text: 'The beaver plan: build a dam.', tags: ['final'], images: [] },
      metadata_patch: { status: 'done', priority: null },
    });
    await call('delete_context', { context_ids: [removed] });
    const later = await store('past', 'An otter of today.');

    const now = await call('search_context', { thread_id: 'past' });
    assert.deepEqual(ids(now), [later, changed]);
    const past = await call('search_context', { thread_id: 'past', as_of: then, include_images: true });
    assert.deepEqual(ids(past), [removed, changed]);
    const entry = past.results.find(({ id }) => id === changed);
    assert.deepEqual(
      [entry?.text_content, entry?.['tags'], entry?.['metadata'], entry?.['content_type'], entry?.['images']],
      [
        ...['The otter plan: build a raft.', ['draft'], { status: 'open', priority: 1 }, 'multimodal'],
        [{ data: png, mime_type: 'image/png' }],
      ],
    );
    for (const filter of [
      { tags: ['draft'] },
      { content_type: 'multimodal' },
      { metadata: { priority: 1 } },
      { metadata_filters: [{ key: 'status', operator: 'eq', value: 'OPEN' }], source: 'user' },
    ]) {
      const found = await call('search_context', { thread_id: 'past', as_of: then, ...filter });
      assert.deepEqual(ids(found), [changed], JSON.stringify(filter));
    }
    assert.deepEqual(ids(await call('search_context', { thread_id: 'past', as_of: then, tags: ['final'] })), []);

    const { result } = await call('get_context_by_ids', { context_ids: [changed, removed, later], as_of: then });
    assert.deepEqual(
      result.map(({ id, text_content: text }) => [id, text]),
      [
        [removed, 'The otter budget.'],
        [changed, 'The otter plan: build a raft.'],
      ],
    );
    const grep = await call('grep_context', { pattern: 'otter', thread_id: 'past', as_of: then });
    assert.deepEqual(
      grep.results.map((row) => row['context_id']),
      [changed, removed],
    );
    const range = await call('read_context_range', { context_id: changed, start_char: 4, end_char: 9, as_of: then });
    assert.equal(range['text'], 'otter');
    assert.match(await fail('navigate_context', { context_id: later, as_of: then }), /not found/);
  });

  test('as_of: text searches leave out entries whose text differed, and say so', async () => {
    const kept = await store('found', 'A walrus sleeps on the ice.', { tags: ['a'] });
    const rewritten = await store('found', 'A seal sleeps on the rocks.');
    const removed = await store('found', 'A walrus swims.', { source: 'agent' });
    const then = await moment();
    await call('update_context', { context_id: kept, tags: ['b'] });
    await call('update_context', { context_id: rewritten, text: 'A walrus took its place.' });
    await call('delete_context', { context_ids: [removed] });
    for (const tool of ['fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const input = { query: 'walrus', thread_id: 'found', limit: 50 };
      const now = await call(tool, input);
      assert.deepEqual(ids(now).sort(), [kept, rewritten].sort(), tool);
      const past = await call(tool, { ...input, as_of: then });
      assert.deepEqual(ids(past), [kept], tool);
      assert.deepEqual(past.results[0]?.['tags'], ['a'], tool);
      assert.match(String(past['warnings']), /^2 entries are left out: they were changed or deleted since as_of/, tool);
    }
    const listed = await call('search_context', { thread_id: 'found', as_of: then });
    assert.deepEqual([ids(listed), listed['warnings']], [[removed, rewritten, kept], undefined]);
  });

  test('as_of: a truncated text continues where it was cut, in its past version', async () => {
    const old = `old ${'words of the first version '.repeat(200)}end`;
    const id = await store('cut', old);
    const then = await moment();
    await call('update_context', { context_id: id, text: 'short now' });
    const answer = await call('get_context_by_ids', { context_ids: [id], as_of: then, budget_tokens: 300 });
    const [cut] = (answer['budget'] as { cut: { next: string; returned_chars: number }[] }).cut;
    assert.equal(cut?.next.endsWith(`, as_of="${then}")`), true);
    const rest = await call('read_context_range', { context_id: id, start_char: cut?.returned_chars, as_of: then });
    assert.equal(`${answer.result[0]?.text_content}${rest['text']}`, old);
  });

  test('as_of: accepts every date form; before the first entry there is nothing', async () => {
    const id = await store('forms', 'today');
    const today = new Date().toISOString().slice(0, 10);
    const found = async (asOf: string) => ids(await call('search_context', { thread_id: 'forms', as_of: asOf }));
    assert.deepEqual(await found(today), [id]);
    assert.deepEqual(await found('2999-01-01T00:00:00+02:00'), [id]);
    assert.deepEqual(await found('2020-01-01'), []);
    assert.match(await fail('search_context', { as_of: 'yesterday' }), /Invalid as_of format/);
  });
}
