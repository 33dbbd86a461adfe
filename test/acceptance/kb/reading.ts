import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../../src/answers/token-estimate.ts';
import type { KbServers } from './kb-fixture.ts';

interface Listed extends Record<string, unknown> {
  document_id: number;
  title: string;
}

export function readingWhatIsThere(kb: KbServers): void {
  const list = async (input: Record<string, unknown> = {}) => {
    const answer = await kb.call('kb_list', input);
    return { ...answer, documents: answer['documents'] as Listed[], total: answer['total'] };
  };
  const titles = async (input: Record<string, unknown>) => (await list(input)).documents.map(({ title }) => title);

  const hint = async (tool: string, input: Record<string, unknown>) => String((await kb.call(tool, input))['hint']);

  test('empty answers explain themselves', async () => {
    assert.match(await hint('kb_list', {}), /^There are no documents yet/);
    assert.match(await hint('kb_search', { query: 'lease' }), /^There are no documents yet/);
  });

  test('contract §8: kb_list gives documents, collections and tags', async () => {
    const path = '/home/anna/Überblick/lease.md';
    await kb.addNote('Signed in spring', {
      title: 'The Lease',
      collection: 'home',
      source_path: path,
      tags: ['paper'],
    });
    await kb.addNote('Paid monthly', { title: 'Rent ÄNDERUNG', collection: 'home', tags: ['paper', 'money'] });
    await kb.addNote('Forty crates', { title: 'Tea', collection: 'trade', tags: ['money'] });

    const all = await list();
    assert.equal(all.total, 3);
    assert.deepEqual(all.documents.map(({ title }) => title).toSorted(), ['Rent ÄNDERUNG', 'Tea', 'The Lease']);
    const lease = all.documents.find(({ title }) => title === 'The Lease') ?? { document_id: 0, title: '' };
    // Vectors may still be pending.
    const { created_at: createdAt, pending: _, ...rest } = lease;
    assert.match(String(createdAt), /^20\d\d-/);
    assert.deepEqual(rest, {
      document_id: lease.document_id,
      title: 'The Lease',
      type: 'note',
      collection: 'home',
      tags: ['paper'],
      source_path: path,
      chunks: 1,
    });
    assert.deepEqual(Reflect.get(all, 'collections'), [
      { name: 'home', documents: 2 },
      { name: 'trade', documents: 1 },
    ]);
    assert.deepEqual(Reflect.get(all, 'tags'), [
      { name: 'money', documents: 2 },
      { name: 'paper', documents: 2 },
    ]);
  });

  test('contract §8: kb_list narrows by collection, tag, type and words, and pages', async () => {
    assert.deepEqual((await titles({ collection: 'home' })).toSorted(), ['Rent ÄNDERUNG', 'The Lease']);
    assert.deepEqual(await titles({ tag: 'money', collection: 'trade' }), ['Tea']);
    assert.deepEqual(await titles({ tag: 'money,paper' }), ['Rent ÄNDERUNG']);
    assert.deepEqual(await titles({ type: 'pdf' }), []);
    assert.deepEqual(await titles({ query: 'lease' }), ['The Lease']);
    assert.deepEqual(await titles({ query: 'LEASE anna' }), ['The Lease']);
    assert.deepEqual(await titles({ query: 'lease tea' }), []);
    assert.deepEqual(await titles({ query: 'überblick' }), ['The Lease']);
    assert.deepEqual(await titles({ query: 'änderung' }), ['Rent ÄNDERUNG']);
    assert.deepEqual(await titles({ query: '100%_' }), []);
    const page = await list({ limit: 1, offset: 1 });
    assert.deepEqual([page.documents.length, page.total], [1, 3]);
    assert.equal((await kb.fail('kb_list', { tag: 'collection:a', collection: 'b' })).code, 'invalid_arguments');
  });

  test('an empty list or search explains why', async () => {
    for (const [tool, more] of Object.entries({ kb_list: { tag: 'no' }, kb_search: { query: 'tea', tags: ['no'] } })) {
      assert.match(
        await hint(tool, { ...more, collection: 'home' }),
        /^No document matches the filters \(collection, tags\)/,
      );
    }
    assert.match(await hint('kb_list', { type: 'pdf' }), /\(type\)/);
    assert.match(
      await hint('kb_list', { query: 'lease tea' }),
      /No title or path contains all of these words; kb_search/,
    );
    assert.match(await hint('kb_list', { offset: 9 }), /^offset 9 is past the last of 3 documents/);
    const few = await hint('kb_search', { query: 'zebra', collection: 'trade', fts_only: true });
    assert.match(few, /^Nothing in the one document contains any of these words\. .* without fts_only/);
    assert.match(
      await hint('kb_search', { query: 'zebra', threshold: 0.99 }),
      /3 documents reaches the threshold 0\.99/,
    );
    assert.equal(await hint('kb_search', { query: 'crates' }), 'undefined');
    assert.equal(await hint('kb_list', {}), 'undefined');
  });

  test('an unknown collection is an error that names existing ones, closest first', async () => {
    for (const [tool, more] of Object.entries({ kb_list: {}, kb_search: { query: 'tea' } })) {
      const error = await kb.fail(tool, { ...more, collection: 'trades' });
      assert.equal(error.code, 'collection_not_found');
      assert.equal(error.message, 'There is no collection trades. Existing collections: trade, home.');
    }
    // No results in an existing collection are an answer, not an error.
    const empty = await kb.call('kb_search', { query: 'zebra', collection: 'trade', fts_only: true });
    assert.deepEqual(empty['results'], []);
    assert.deepEqual((await list({ collection: 'home', type: 'pdf' })).documents, []);
  });

  test('contract §8: kb_get answers within its budget: an outline first, and next leads through the whole', async () => {
    const section = (index: number) =>
      `## Section ${index}\n\n${`Sentence ${index} about berths and tides. `.repeat(60)}`;
    const text = `# Handbook\n\n${Array.from({ length: 60 }, (_, index) => section(index)).join('\n\n')}`;
    const id = await kb.addNote(text, { title: 'Handbook' });

    const seen: number[] = [];
    let first = await kb.call('kb_get', { document_id: id });
    const { chunk_count: count } = first;
    const outline = first['outline'] as { chunk_index: number; heading: string }[];
    assert.deepEqual(outline.at(-1)?.heading, 'Handbook > Section 59');
    assert.ok(Object.keys(first).indexOf('outline') < Object.keys(first).indexOf('chunks'));
    for (let rounds = 0; rounds < 100; rounds += 1) {
      assert.ok(estimateTokens(JSON.stringify(first)) <= 8_300, String(estimateTokens(JSON.stringify(first))));
      seen.push(...(first['chunks'] as { chunk_index: number }[]).map(({ chunk_index: index }) => index));
      const next = /^kb_get\(document_id=\d+, first_chunk=(\d+)\)$/.exec(String(first['next'] ?? ''))?.[1];
      if (next === undefined) break;
      first = await kb.call('kb_get', { document_id: id, first_chunk: Number(next) });
      assert.equal(first['outline'], undefined);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: Number(count) }, (_, index) => index),
    );

    // A position from the outline.
    const { chunk_index: index = 0 } = outline.find(({ heading }) => heading.endsWith('Section 30')) ?? {};
    const part = await kb.call('kb_get', { document_id: id, first_chunk: index, max_chunks: 1 });
    assert.match(JSON.stringify(part['chunks']), /Sentence 30 about/);
    // Even the smallest budget makes progress.
    const small = await kb.call('kb_get', { document_id: id, budget_tokens: 100 });
    assert.equal((small['chunks'] as unknown[]).length, 1);
    assert.match(String(small['next']), /first_chunk=1\)$/);
  });
}
