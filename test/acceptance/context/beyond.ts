import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContextServer } from './context-fixture.ts';

const document = `# Guide

Welcome 😀 to it.

## Install

Run npm ci first.
Then npm start.

## Use

### Search

Ask it.

## Use

The end.`;

export function toolsBeyondTheSeed(server: ContextServer): void {
  const { call, fail, store } = server;

  test('lists report whether there is more, and missing ids', async () => {
    const ids = [
      await store('more/a', 'larch one'),
      await store('more/b', 'larch two'),
      await store('more/b', 'larch three'),
    ];
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const query = tool === 'search_context' ? {} : { query: 'larch' };
      const tags = { metadata_filters: [{ key: 'absent', operator: 'not_exists' }], start_date: '2000-01-01' };
      const page = (offset: number) => call(tool, { ...query, ...tags, thread_id: 'more/b', limit: 1, offset });
      const pages = [await page(0), await page(1)];
      assert.deepEqual(
        pages.map((answer) => [answer['count'], answer['has_more']]),
        [
          [1, true],
          [1, false],
        ],
        tool,
      );
      if (tool === 'fts_search_context') assert.equal(pages[0]?.['total'], 2);
    }
    const gone = 987_654_321;
    const got = await call('get_context_by_ids', { context_ids: [gone, ...ids] });
    assert.deepEqual([got.result.length, got['missing_ids']], [3, [gone]]);
    assert.equal((await call('get_context_by_ids', { context_ids: ids }))['missing_ids'], undefined);

    const threads = await call('list_threads', { filter: 'more/', limit: 1 });
    assert.deepEqual([threads['total_threads'], threads['has_more']], [2, true]);
    const rest = await call('list_threads', { filter: 'more/', limit: 1, offset: 1 });
    assert.deepEqual([rest['total_threads'], rest['has_more']], [2, false]);
    assert.equal((await call('list_threads', { filter: 'mo%/' }))['total_threads'], 0);

    const key = { thread_ids: ['more/a', 'more/z'], idempotency_key: 'more' };
    const dry = await call('delete_context_batch', { thread_ids: key.thread_ids, dry_run: true });
    assert.deepEqual([dry['would_delete_count'], dry['missing_threads']], [1, ['more/z']]);
    const deleted = await call('delete_context_batch', key);
    assert.deepEqual([deleted['deleted_count'], deleted['missing_threads']], [1, ['more/z']]);
    assert.deepEqual(await call('delete_context_batch', key), deleted);
    const none = await call('delete_context', { thread_id: 'more/a' });
    assert.deepEqual([none['success'], none['deleted_count'], none['missing_threads']], [true, 0, ['more/a']]);
    assert.match(String(none['message']), /there is no thread "more\/a"/);
  });

  // The search itself does not depend on the database.
  if (server.backend === 'sqlite') {
    test('grep_context finds literal text and expressions, line by line', async () => {
      const id = await store('grep', 'alpha [x].\nBeta gamma beta\nlast alpha');
      const literal = await call('grep_context', { pattern: '[x].', thread_id: 'grep' });
      assert.deepEqual(literal.results, [
        { context_id: id, line_number: 1, line: 'alpha [x].', match_start: 6, match_end: 10, before: [], after: [] },
      ]);
      const regex = await call('grep_context', {
        ...{ pattern: '^be\\w+', is_regex: true, case_sensitive: false, context_lines: 1, thread_id: 'grep' },
      });
      assert.deepEqual(
        regex.results.map((row) => [row['line_number'], row['before'], row['after']]),
        [[2, ['alpha [x].'], ['last alpha']]],
      );
      const count = await call('grep_context', { pattern: 'alpha', output_mode: 'count', thread_id: 'grep' });
      assert.deepEqual([count.results, count['total_matches']], [[{ context_id: id, count: 2 }], 2]);
      const files = await call('grep_context', {
        pattern: 'eta',
        output_mode: 'files_with_matches',
        thread_id: 'grep',
      });
      assert.deepEqual(files.results, [{ context_id: id, match_count: 2 }]);
      const cut = await call('grep_context', { pattern: 'a', max_matches: 2, thread_id: 'grep' });
      assert.deepEqual([cut.results.length, cut['total_matches'], cut['truncated']], [2, 2, true]);
      const all = await call('grep_context', { pattern: 'a', max_matches: 9, thread_id: 'grep' });
      assert.deepEqual([all['total_matches'], all['truncated']], [9, false]);
      const small = await call('grep_context', { pattern: 'a', budget_tokens: 100, thread_id: 'grep' });
      assert.ok(small.results.length > 0 && small.results.length < 9);
      assert.deepEqual([small['total_matches'], small['truncated']], [9, true]);
      const odd = await store('grep odd', '😀😀 größe');
      const letters = await call('grep_context', { pattern: '\\p{L}+', is_regex: true, thread_id: 'grep odd' });
      const [from, to] = [letters.results[0]?.['match_start'], letters.results[0]?.['match_end']];
      const [text] = [(await call('read_context_range', { context_id: odd, start_char: from, end_char: to }))['text']];
      assert.equal(text, 'größe');
      const loose = await call('grep_context', { pattern: 'gr\\-?ö', is_regex: true, thread_id: 'grep odd' });
      assert.equal(loose['total_matches'], 1);
      assert.match(await fail('grep_context', { pattern: '(', is_regex: true }), /must be a valid regular expression/);
    });

    test('T090: an expression that runs away is ended, and the others are still searched', async () => {
      const bad = await store('redos', `${'a'.repeat(40)}!`);
      const good = await store('redos', 'b aaa');
      const answer = await call('grep_context', { pattern: '(a+)+$', is_regex: true, thread_id: 'redos' });
      assert.deepEqual([answer['timed_out_context_ids'], answer['truncated']], [[bad], true]);
      assert.deepEqual(
        answer.results.map((row) => row['context_id']),
        [good],
      );
      assert.ok((await call('list_threads'))['total_threads']);
    });
  }

  test('navigate_context outlines, read_context_range reads a part', async () => {
    const id = await store('outline', document);
    const { root, ...facts } = await call('navigate_context', { context_id: id });
    assert.deepEqual([facts['node_count'], facts['total_lines']], [6, 18]);
    assert.equal(facts['total_chars'], Array.from(document).length);
    const [guide] = (root as { children: { node_id: string; children: { node_id: string; char_start: number }[] }[] })
      .children;
    assert.equal(guide?.node_id, 'guide');
    assert.deepEqual(
      guide.children.map(({ node_id: node }) => node),
      ['guide/install', 'guide/use', 'guide/use-2'],
    );
    const read = async (range: object) => (await call('read_context_range', { context_id: id, ...range }))['text'];
    assert.equal(await read({ node_id: 'guide/install' }), '## Install\n\nRun npm ci first.\nThen npm start.\n\n');
    assert.equal(await read({ node_id: 'guide/use-2' }), '## Use\n\nThe end.');
    assert.equal(await read({ start_line: 3, end_line: 3 }), 'Welcome 😀 to it.\n');
    assert.equal(await read({ start_char: 17, end_char: 22 }), '😀 to ');
    assert.equal(await read({ start_char: 9_999 }), '');
    const shallow = await call('navigate_context', { context_id: id, max_depth: 1 });
    assert.equal(shallow['node_count'], 2);
    assert.match(await fail('read_context_range', { context_id: id }), /Give one of/);
    assert.match(await fail('read_context_range', { context_id: id, node_id: 'no' }), /navigate_context/);
    const refused = (range: object) => fail('read_context_range', { context_id: id, ...range });
    assert.match(await refused({ start_line: 30, end_line: 40 }), /start_line must be at most 18, the last line/);
    assert.match(await refused({ start_line: 40, end_line: 30 }), /end_line must not be before start_line/);
    assert.match(await refused({ start_char: 9_999, end_char: 9_998 }), /end_char must not be before start_char/);
    assert.match(await fail('navigate_context', { context_id: 999_999 }), /Context entry with ID 999999 not found/);
  });

  test('restore_context restores deleted entries; dry_run deletes nothing', async () => {
    const id = await store('restore', 'a phoenix rises', { tags: ['bird'] });
    const dry = await call('delete_context', { context_ids: [id], dry_run: true });
    assert.deepEqual([dry['deleted_count'], dry['would_delete_ids']], [0, [id]]);
    await call('delete_context', { context_ids: [id] });
    assert.equal((await call('fts_search_context', { query: 'phoenix' }))['count'], 0);
    const restored = await call('restore_context', { thread_id: 'restore' });
    assert.deepEqual([restored['restored_count'], restored['restored_ids']], [1, [id]]);
    assert.equal((await call('fts_search_context', { query: 'phoenix', tags: ['bird'] }))['count'], 1);
    const alike = { query: 'mythical bird', thread_id: 'restore', include_weak: true };
    assert.equal((await call('semantic_search_context', alike))['count'], 1);
    assert.match(await fail('restore_context'), /Must provide/);
  });

  test('budget_tokens bounds an answer and says how to get the rest', async () => {
    const long = `start ${'words of a long entry '.repeat(400)}end`;
    const ids = [await store('budget', long), await store('budget', 'short one'), await store('budget', `${long} two`)];
    const answer = await call('get_context_by_ids', { context_ids: ids, budget_tokens: 500 });
    const budget = answer['budget'] as {
      used_tokens: number;
      omitted_ids: number[];
      omitted_next: string;
      cut: { id: number; next: string; returned_chars: number }[];
    };
    assert.ok(budget.used_tokens <= 500);
    const [cut] = budget.cut;
    assert.ok(cut && answer.result.some(({ id }) => id === cut.id));
    assert.equal(cut.next, `read_context_range(context_id=${cut.id}, start_char=${cut.returned_chars})`);
    assert.equal(answer.result.length + budget.omitted_ids.length, 3);
    assert.equal(budget.omitted_next, `get_context_by_ids(context_ids=[${budget.omitted_ids.join(', ')}])`);
    const rest = await call('read_context_range', { context_id: cut.id, start_char: cut.returned_chars });
    const beginning = answer.result.find(({ id }) => id === cut.id)?.text_content ?? '';
    assert.equal(beginning + rest['text'], `${long} two`);
    const search = await call('hybrid_search_context', {
      query: 'long entry',
      thread_id: 'budget',
      budget_tokens: 200,
    });
    assert.ok((search['budget'] as { omitted_ids: number[] }).omitted_ids.length > 0);
  });

  test('contract §8: entries are resources', async () => {
    const id = await store('resource', 'read me as a resource');
    const { resources } = await server.client.listResources();
    assert.ok(resources.some(({ uri }) => uri === `carrel://context/${id}`));
    const { contents } = await server.client.readResource({ uri: `carrel://context/${id}` });
    assert.equal(
      'text' in (contents[0] ?? {}) && contents[0] && 'text' in contents[0] && contents[0].text,
      'read me as a resource',
    );
    for (const uri of ['carrel://context/0', 'carrel://context/x', 'carrel://context/999999', 'carrel://context/1.5']) {
      await assert.rejects(server.client.readResource({ uri }));
    }
  });
}
