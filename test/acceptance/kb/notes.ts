import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../support/verifies.ts';
import type { Hit, KbServers } from './kb-fixture.ts';

export function notesAndSearch(kb: KbServers): void {
  const mark = () => kb.proxy.requests.length;
  const search = async (input: Record<string, unknown>) => (await kb.call('kb_search', input))['results'] as Hit[];

  verifies(
    ['003 addnote/default', '003 collections/default'],
    'stores a note without a collection in documents',
    async () => {
      const since = mark();
      const answer = await kb.call('kb_addnote', { text: 'User prefers concise responses' });
      const [request] = kb.asked(since, 'POST', '/jobs');
      assert.match(request?.text ?? '', /name="tags"\r\n\r\ncollection:documents\r\n/);
      assert.deepEqual([answer['status'], answer['collection'], answer['tags']], ['queued', 'documents', []]);
      const document = await kb.call('kb_get', { document_id: await kb.ingested(answer) });
      assert.deepEqual([document['collection'], document['tags'], document['doc_type']], ['documents', [], 'note']);
    },
  );

  verifies(
    ['003 addnote/specific', '003 collections/explicit', '003 addnote/one-collection'],
    'stores a note only in the named collection',
    async () => {
      const since = mark();
      const given = { text: 'User dislikes exclamation marks', collection: 'memory', tags: ['feedback'] };
      const id = await kb.ingested(await kb.call('kb_addnote', given));
      const [request] = kb.asked(since, 'POST', '/jobs');
      assert.match(request?.text ?? '', /name="tags"\r\n\r\ncollection:memory,feedback\r\n/);
      const stored = await fetch(`${kb.engine.origin}/api/v1/documents/${id}`, {
        headers: { authorization: 'Bearer engine-secret' },
      });
      const { tags } = (await stored.json()) as { tags: string[] };
      assert.deepEqual(
        tags.filter((tag) => tag.startsWith('collection:')),
        ['collection:memory'],
      );
      assert.ok(tags.includes('feedback'));
    },
  );

  verifies('003 addnote/specific', 'a collection: tag sets the collection; rejects two of them', async () => {
    const id = await kb.addNote('Tags may name the collection', { tags: ['x', 'collection:memory'] });
    const document = await kb.call('kb_get', { document_id: id });
    assert.deepEqual([document['collection'], document['tags']], ['memory', ['x']]);
    const since = mark();
    const error = await kb.fail('kb_addnote', { text: 'In two places', collection: 'a', tags: ['collection:b'] });
    assert.equal(error.code, 'invalid_arguments');
    assert.deepEqual(kb.asked(since, 'POST', '/jobs'), []);
  });

  test('rejects invisible text and titles', async () => {
    for (const given of [{ text: '\u200b' }, { text: 'Something', title: '\u2060 ' }]) {
      assert.match((await kb.fail('kb_addnote', given)).message, /must not be blank/);
    }
  });

  verifies('003 addnote/default', 'reports the same text as a duplicate, not as a failure', async () => {
    const id = await kb.addNote('Said twice', { collection: 'memory' });
    const again = await kb.call('kb_addnote', { text: 'Said twice' });
    assert.deepEqual([again['status'], again['document_id'], again['collection']], ['duplicate', id, 'memory']);
    assert.match(String(again['message']), /in the collection memory; kb_set_collection moves it to documents/);
    const same = await kb.call('kb_addnote', { text: 'Said twice', collection: 'memory' });
    assert.doesNotMatch(String(same['message']), /kb_set_collection/);
  });

  verifies('003 search/basic', 'a search returns text, score, document and tags', async () => {
    const id = await kb.addNote('The pension revaluation of 2026 was 4.1 percent', {
      title: 'Pensions',
      tags: ['money'],
    });
    const since = mark();
    const answer = await kb.call('kb_search', { query: 'pension revaluation', top: 5 });
    const [request] = kb.asked(since, 'POST', '/search');
    assert.deepEqual(
      [JSON.parse(request?.text ?? '{}').query, JSON.parse(request?.text ?? '{}').top],
      ['pension revaluation', 5],
    );
    const [hit] = answer['results'] as Hit[];
    assert.equal(hit?.document_id, id);
    assert.match(hit.text, /4\.1 percent/);
    assert.deepEqual([hit['title'], hit['doc_type'], hit.tags], ['Pensions', 'note', ['money']]);
    assert.ok(Number(hit['relevance']) > 0 && hit.chunk_id !== undefined);
    for (const field of ['score', 'why', 'hash', 'range', 'source_path', 'origin']) assert.ok(!(field in hit), field);
    assert.equal(answer['returned'], (answer['results'] as Hit[]).length);
    assert.ok(Number(answer['total_matches']) >= 1);
  });

  verifies(
    ['003 search/collection', '003 search/tags-and-collection', '003 search/strip', '003 collections/field'],
    'filters by collection and tags, and shows the collection separately',
    async () => {
      await kb.addNote('Email preferences: plain text, please', { collection: 'memory', tags: ['email', 'feedback'] });
      await kb.addNote('Email preferences of the marketing list', { collection: 'marketing', tags: ['email'] });
      await kb.addNote('Feedback on preferences without a tag', { collection: 'memory' });
      const since = mark();
      const inMemory = await search({ query: 'email preferences', collection: 'memory' });
      const tagged = await search({ query: 'preferences', tags: ['email'], collection: 'memory' });
      const [first, second] = kb.asked(since, 'POST', '/search').map(({ text }) => JSON.parse(text).tags);
      assert.deepEqual([first, second], [['collection:memory'], ['email', 'collection:memory']]);
      assert.ok(inMemory.length >= 2);
      assert.deepEqual(new Set(inMemory.map(({ collection }) => collection)), new Set(['memory']));
      assert.deepEqual(
        tagged.map(({ collection, tags }) => ({ collection, tags: tags.toSorted() })),
        [{ collection: 'memory', tags: ['email', 'feedback'] }],
      );
    },
  );

  verifies('003 search/mode', 'sends fts_only and vec_only to the engine, and rejects both together', async () => {
    const since = mark();
    await kb.call('kb_search', { query: 'error log', fts_only: true });
    await kb.call('kb_search', { query: 'error log', vec_only: true });
    const bodies = kb.asked(since, 'POST', '/search').map(({ text }) => JSON.parse(text));
    assert.deepEqual(
      bodies.map(({ fts_only, vec_only }) => [fts_only, vec_only]),
      [
        [true, false],
        [false, true],
      ],
    );
    assert.equal(
      (await kb.fail('kb_search', { query: 'x', fts_only: true, vec_only: true })).code,
      'invalid_arguments',
    );
  });

  verifies('003 search/basic', 'returns neighbours within a token budget', async () => {
    const paragraphs = Array.from(
      { length: 12 },
      (_, index) => `## Part ${index}\n\n${`Glacier survey, part ${index}. `.repeat(40)}`,
    );
    const id = await kb.addNote(paragraphs.join('\n\n'), { title: 'Glaciers' });
    const near = await search({ query: 'glacier survey part 5', neighbours: 1, top: 3 });
    assert.ok(near.some((hit) => (hit['neighbours'] as unknown[] | undefined)?.length));
    const joined = await search({ query: 'glacier survey part', limit: 12 });
    const pairs = joined.flatMap((hit) =>
      hit['chunk_indexes'] === undefined ? [] : [hit['chunk_indexes'] as number[]],
    );
    assert.ok(pairs.length > 0 && pairs.every(([first = 0, second]) => second === first + 1), JSON.stringify(pairs));
    assert.match(String(joined.find((hit) => 'chunk_indexes' in hit)?.text), /part \d+\..*\n\n.*part \d+\./s);
    assert.ok((await search({ query: 'glacier survey part' })).length <= 5);
    const tiny = await kb.call('kb_search', { query: 'glacier survey', budget_tokens: 100, explain: true });
    const { hint, cut } = tiny['budget'] as { hint: string; cut: { next: string }[] };
    assert.deepEqual([(tiny['results'] as Hit[]).length, cut.length], [1, 1]);
    assert.match(hint, /too small for one result/);
    const small = await kb.call('kb_search', { query: 'glacier survey', top: 12, budget_tokens: 300 });
    const budget = small['budget'] as { used_tokens: number; omitted_ids: unknown[] };
    assert.ok(budget.used_tokens <= 300 && budget.omitted_ids.length > 0);
    const whole = await kb.call('kb_get', { document_id: id });
    const part = await kb.call('kb_get', { document_id: id, budget_tokens: 300 });
    const count = (whole['chunks'] as unknown[]).length;
    assert.ok(count > 3 && (part['chunks'] as unknown[]).length < count);
    const left = part['budget'] as Record<string, unknown>;
    assert.equal(left['omitted_chunks'], count - (part['chunks'] as unknown[]).length);
    assert.ok(!('omitted_ids' in left), 'a list of what is left out must not be longer than what is given');
    assert.match(String(part['next']), /^kb_get\(document_id=\d+, first_chunk=\d+\)$/);
    const rest = await kb.call('kb_get', { document_id: id, first_chunk: 2, max_chunks: 2 });
    assert.deepEqual(
      (rest['chunks'] as { chunk_index: number }[]).map(({ chunk_index: index }) => index),
      [2, 3],
    );
  });

  verifies('003 update/existing', 'replaces a note in place', async () => {
    const id = await kb.addNote('Prefers long prose', { collection: 'memory', tags: ['style'] });
    const since = mark();
    const updated = await kb.call('kb_update_note', { document_id: id, text: 'Updated preference: bullet points' });
    assert.equal(kb.asked(since, 'PATCH', `/notes/${id}`).length, 1);
    assert.deepEqual([updated['document_id'], updated['collection'], updated['tags']], [id, 'memory', ['style']]);
    assert.ok(updated['updated_at']);
    const twin = await kb.addNote('Said by another note');
    const refused = await kb.fail('kb_update_note', { document_id: id, text: 'Said by another note' });
    assert.deepEqual([refused.code, refused['document_id']], ['duplicate', twin]);
    assert.match(refused.message, new RegExp(`\\b${twin}\\b`));
    const { chunks } = await kb.call('kb_get', { document_id: id });
    assert.match(JSON.stringify(chunks), /bullet points/);
    assert.doesNotMatch(JSON.stringify(chunks), /long prose/);
  });

  verifies('003 update/missing', 'reports a missing document', async () => {
    assert.equal((await kb.fail('kb_update_note', { document_id: 999_999, text: 'x' })).code, 'document_not_found');
  });

  verifies(['003 get/id', '003 get/strip'], 'returns a document with its chunks', async () => {
    const id = await kb.addNote('Whole documents are read by id', { collection: 'memory', tags: ['reading'] });
    const since = mark();
    const document = await kb.call('kb_get', { document_id: id });
    assert.equal(kb.asked(since, 'GET', `/documents/${id}`).length, 1);
    assert.deepEqual([document['collection'], document['tags']], ['memory', ['reading']]);
    const [chunk] = document['chunks'] as { text: string; chunk_index: number }[];
    assert.deepEqual([chunk?.chunk_index, chunk?.text], [0, 'Whole documents are read by id']);
    assert.equal((await kb.fail('kb_get', { document_id: 999_999 })).code, 'document_not_found');
    assert.equal((await kb.fail('kb_get')).code, 'invalid_arguments');
  });

  verifies(['003 get/source-path', '003 get/strip'], 'finds documents by source path', async () => {
    const path = 'memory/feedback_testing.md';
    const id = await kb.addNote('Tests come first', { source_path: path, collection: 'memory' });
    const since = mark();
    const { documents, total } = await kb.call('kb_get', { source_path: path });
    assert.match(kb.asked(since, 'GET', '/documents')[0]?.url ?? '', /source_path=memory%2Ffeedback_testing\.md/);
    const [document] = documents as Record<string, unknown>[];
    assert.deepEqual(
      [total, document?.['document_id'], document?.['collection'], document?.['tags']],
      [1, id, 'memory', []],
    );
    assert.deepEqual((await kb.call('kb_get', { source_path: 'no/such.md' }))['documents'], []);
  });

  verifies(
    '003 collections/exclusive',
    'moving a document removes the old collection and adds the new one',
    async () => {
      const id = await kb.addNote('On the move', { tags: ['kept'] });
      const since = mark();
      const moved = await kb.call('kb_set_collection', { document_id: id, collection: 'memory' });
      const changes = kb.asked(since, 'PUT', `/documents/${id}/tags`).map(({ text }) => JSON.parse(text));
      assert.deepEqual(changes, [{ remove: ['collection:documents'], add: ['collection:memory'] }]);
      assert.deepEqual([moved['collection'], moved['tags']], ['memory', ['kept']]);
      const without = await kb.call('kb_set_collection', { document_id: id });
      assert.deepEqual([without['collection'], without['tags']], [null, ['kept']]);
      assert.equal(
        (await kb.fail('kb_set_collection', { document_id: 999_999, collection: 'x' })).code,
        'document_not_found',
      );
    },
  );

  verifies(
    '003 collections/exclusive',
    'bulk operations keep collections exclusive, and stop at the safety threshold',
    async () => {
      const ids = [];
      for (const name of ['one', 'two', 'three']) {
        ids.push(await kb.addNote(`Bulk ${name}`, { collection: `c-${name}`, tags: ['bulk', name] }));
      }
      const since = kb.proxy.requests.length;
      const moved = await kb.call('kb_bulk_tags', {
        tags: ['bulk'],
        add: ['collection:archive', 'old'],
        remove: ['one'],
      });
      assert.deepEqual([moved['matched'], moved['changed']], [3, 3]);
      const shown = async (id: number) => {
        const { collection, tags } = await kb.call('kb_get', { document_id: id });
        return [collection, (tags as string[]).toSorted()];
      };
      assert.deepEqual(await shown(ids[0] ?? 0), ['archive', ['bulk', 'old']]);
      await kb.call('kb_bulk_set_tags', { collection: 'archive', set_tags: ['new'] });
      assert.deepEqual(await shown(ids[2] ?? 0), ['archive', ['new']]);
      const requests = ['/tags', '/bulk/tags', '/bulk/replace-tags'].map((path) =>
        ['GET', 'POST'].map((method) => kb.asked(since, method, path).length),
      );
      assert.deepEqual(requests.flat(), [0, 0, 0, 0, 0, 2], 'one request each, whatever tags there are');
      await kb.call('kb_bulk_set_tags', { document_ids: ids, set_tags: ['newer'], set_collection: 'shelf' });
      assert.deepEqual(await shown(ids[1] ?? 0), ['shelf', ['newer']]);
      const refused = await kb.fail('kb_bulk_delete', { from_id: 1 });
      assert.equal(refused.code, 'safety_threshold_exceeded');
      assert.match(refused.message, /more of all documents \(\d+ of \d+\)/);
      assert.ok(Number(refused['matched']) > 3);
      const dry = await kb.call('kb_bulk_delete', { collection: 'shelf', dry_run: true });
      assert.deepEqual([dry['matched'], dry['changed'], (dry['document_ids'] as number[]).toSorted()], [3, 0, ids]);
      assert.equal((await kb.call('kb_bulk_delete', { collection: 'shelf' }))['changed'], 3);
      assert.equal((await kb.fail('kb_get', { document_id: ids[0] })).code, 'document_not_found');
      assert.equal((await kb.fail('kb_bulk_delete', { force: true })).code, 'invalid_arguments');
    },
  );

  verifies('003 collections/exclusive', 'a deleted document is gone', async () => {
    const id = await kb.addNote('Short lived', { title: 'Gone soon' });
    assert.deepEqual(await kb.call('kb_delete', { document_id: id }), {
      status: 'deleted',
      document_id: id,
      title: 'Gone soon',
    });
    assert.equal((await kb.fail('kb_delete', { document_id: id })).code, 'document_not_found');
  });

  verifies('003 status/get', "reports the engine's status and whether the caller is authenticated", async () => {
    const since = mark();
    const status = await kb.call('kb_status');
    assert.equal(kb.asked(since, 'GET', '/status').length, 1);
    assert.match(String(status['version']), /^\d+\.\d+/);
    assert.ok('model' in status && 'device' in status);
    assert.ok(Number(status['documents']) > 0 && Number(status['chunks']) > 0);
    assert.ok((status['queue'] as { done: number }).done > 0);
    assert.equal(status['authenticated'], true);
  });

  verifies(['003 jobs/list', '003 jobs/filter'], 'lists jobs, all or by status', async () => {
    const id = await kb.addNote('Something to list');
    const since = mark();
    const { jobs, total } = await kb.call('kb_jobs');
    const [job] = (jobs as Record<string, unknown>[]).filter((each) => each['document_id'] === id);
    assert.deepEqual([job?.['status'], job?.['error'], job?.['kind']], ['done', null, 'ingest']);
    assert.ok(Number(total) >= (jobs as unknown[]).length);
    const failed = await kb.call('kb_jobs', { status: 'failed' });
    assert.deepEqual(failed['jobs'], []);
    assert.match(kb.asked(since, 'GET', '/jobs')[1]?.url ?? '', /[?&]status=failed(&|$)/);
    assert.deepEqual(await kb.call('kb_jobs', { status: 'skipped' }), { jobs: [], total: 0 });
    assert.equal((await kb.fail('kb_jobs', { job_id: 999_999 })).code, 'job_not_found');
  });
}
