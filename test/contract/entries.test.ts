import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EntryFilter, NewEntry } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import type { ListRequest } from '../../src/storage/entries/read-entries.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';

const dayMs = 86_400_000;

onEachBackend('context entries', (backend) => {
  let entries: EntryStore;
  let time = Date.parse('2026-01-01T00:00:00.000Z');

  before(async () => {
    const storage = await backend.open({
      now: () => {
        time += 1000;
        return new Date(time);
      },
    });
    entries = storage.entries;
  });

  const entry = (threadId: string, text: string, more: Partial<NewEntry> = {}): NewEntry => ({
    ...{ threadId, text, source: 'user', metadata: undefined, tags: [], images: [], summary: undefined },
    ...more,
  });
  const store = async (...fresh: NewEntry[]) => (await entries.store({ entries: fresh })).map(({ id }) => id);
  const one = async (id: number, images = false) => (await entries.get({ ids: [id], images }))[0];
  const list = async (request: Partial<ListRequest>) =>
    (await entries.list({ filter: {}, limit: 1000, offset: 0, images: false, explain: false, ...request })).entries;
  const found = async (text: string, threadId?: string) =>
    (
      await entries.searchWords({
        query: plainQuery(text),
        filter: { threadId },
        limit: 100,
        offset: 0,
        explain: false,
      })
    ).hits.map(({ id }) => id);
  const image = { data: new Uint8Array([0x89, 0x50, 0, 255]), mimeType: 'image/png', metadata: { alt: 'x' } };

  test('002 search_context: finds a tag with composed or decomposed accents, now and in the past, and keeps it as stored', async () => {
    const [apart, composed] = ['cafe\u0301', 'caf\u00e9'];
    const fresh = [[apart], [composed], [apart, composed], ['cafe']].map((tags) =>
      entry('accents', String(tags), { tags }),
    );
    const ids = (await store(...fresh)).slice(0, 3).reverse();
    const asOf = (await one(ids[0] ?? 0))?.createdAt;
    const same = async (more: EntryFilter) => {
      for (const tag of [apart, composed]) {
        const got = await list({ filter: { threadId: 'accents', tags: [tag], ...more } });
        assert.deepEqual(
          got.map(({ id }) => id),
          ids,
        );
      }
    };
    await same({});
    assert.deepEqual((await one(ids[2] ?? 0))?.tags, [apart]);
    await entries.update({ allOrNothing: true, updates: ids.map((id) => ({ id, tags: ['other'] })) });
    await same({ asOf });
  });

  test('002 store_context: an entry comes back as it was stored', async () => {
    const [id = 0] = await store(
      entry('t1', 'Ünïcode 大阪 😀\n\n "quotes" \\ % _', {
        metadata: { b: 1, a: { nested: [1, 'x', null] }, __proto__: null },
        tags: ['zeta', 'alpha'],
        images: [image],
        summary: 'short',
      }),
    );
    const stored = await one(id, true);
    assert.equal(stored?.text, 'Ünïcode 大阪 😀\n\n "quotes" \\ % _');
    assert.deepEqual(stored.metadata, { b: 1, a: { nested: [1, 'x', null] } });
    assert.deepEqual(stored.tags, ['alpha', 'zeta']);
    assert.equal(stored.contentType, 'multimodal');
    assert.equal(stored.summary, 'short');
    assert.match(stored.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(
      stored.images?.map(({ data, ...rest }) => ({ ...rest, data: [...data] })),
      [{ mimeType: 'image/png', metadata: { alt: 'x' }, data: [0x89, 0x50, 0, 255] }],
    );
    assert.equal((await one(id))?.images, undefined);
  });

  test('returns the previous text of the same thread, if both are short, undeleted and in allowed threads', async () => {
    const [asked = 0] = await store(entry('talk', 'Did you go?'));
    const [elsewhere = 0] = await store(entry('other talk', 'Nobody asked.'));
    const [answered = 0, long = 0, behind = 0] = await store(
      entry('talk', 'Yes, last Friday!', { source: 'agent' }),
      entry('talk', 'x'.repeat(401)),
      entry('talk', 'And then?'),
    );
    const ids = [asked, elsewhere, answered, long, behind];
    const previous = [{ id: answered, text: 'Did you go?' }];
    assert.deepEqual(await entries.textsBefore({ ids, charsMax: 400 }), previous);
    assert.deepEqual(await entries.textsBefore({ ids, charsMax: 400, visibleThreads: ['talk'] }), previous);
    assert.deepEqual(await entries.textsBefore({ ids, charsMax: 400, visibleThreads: ['other talk'] }), []);
    await entries.remove({ ids: [asked], dryRun: false });
    assert.deepEqual(await entries.textsBefore({ ids, charsMax: 400 }), []);
  });

  test('upstreams 1.4: recognises a repetition within one call, unless an answer is in between', async () => {
    const said = (text: string, source: 'user' | 'agent', tags: string[] = []) => ({
      ...entry('one call', text, { tags }),
      source,
    });
    await store(said('stored', 'user'));
    const outcomes = await entries.store({
      entries: [
        ...[said('stored', 'user', ['a']), said('new', 'user'), said('new', 'user', ['b']), said('answer', 'agent')],
        ...[said('new', 'user'), said('answer', 'agent'), said('answer', 'agent', ['c']), said('new', 'user')],
      ],
    });
    const repeated = outcomes.map((outcome) => outcome.repeated);
    assert.deepEqual(repeated, [true, false, true, false, false, false, true, false]);
    const ids = outcomes.map(({ id }) => id);
    assert.deepEqual([ids[2], ids[6], new Set(ids).size], [ids[1], ids[5], 6]);
    const tags = await Promise.all([ids[0], ids[1], ids[5]].map(async (id) => (await one(id ?? 0))?.tags));
    assert.deepEqual(tags, [['a'], ['b'], ['c']]);
    const stored = [ids[1], ids[3], ids[4], ids[5], ids[7]];
    assert.deepEqual(
      stored,
      stored.toSorted((a = 0, b = 0) => a - b),
    );
  });

  test('upstreams 1.4: repeating the last entry of a thread and source updates it', async () => {
    const first = await entries.store({
      entries: [entry('dup', 'again', { metadata: { a: 1 }, tags: ['x'], images: [image] })],
    });
    const second = await entries.store({ entries: [entry('dup', 'again')] });
    assert.deepEqual([second[0]?.id, second[0]?.repeated], [first[0]?.id, true]);
    const kept = await one(first[0]?.id ?? 0, true);
    assert.deepEqual(
      [kept?.metadata, kept?.tags, kept?.images?.length, kept?.contentType],
      [{ a: 1 }, ['x'], 1, 'multimodal'],
    );
    assert.ok(kept && kept.updatedAt > kept.createdAt);
    await store(entry('dup', 'again', { metadata: { a: 2 }, tags: ['y'] }));
    const changed = await one(first[0]?.id ?? 0);
    assert.deepEqual([changed?.metadata, changed?.tags], [{ a: 2 }, ['y']]);
    assert.deepEqual(await entries.matching({ threadId: 'dup', tags: ['x'] }), []);
  });

  test('upstreams 1.4: stores the same text again after another text, or from another source', async () => {
    const [asked, answered, again] = await store(
      entry('turn', 'ok'),
      entry('turn', 'done', { source: 'agent' }),
      entry('turn', 'ok'),
    );
    assert.equal(new Set([asked, answered, again]).size, 3);
    const [other, agent] = await store(entry('turn 2', 'ok'), entry('turn 2', 'ok', { source: 'agent' }));
    assert.notEqual(other, agent);
    const [x, y, z] = await store(entry('turn 3', 'x'), entry('turn 3', 'y'), entry('turn 3', 'x'));
    assert.equal(new Set([x, y, z]).size, 3);
  });

  test('an idempotency key repeats the same answer, and rejects another body', async () => {
    const request = { entries: [entry('idem', 'once')], idempotency: { key: 'k1', bodyHash: 'h1' } };
    const first = await entries.store(request);
    await store(entry('idem', 'between', { source: 'agent' }));
    assert.deepEqual(await entries.store(request), first);
    assert.equal((await list({ filter: { threadId: 'idem' } })).length, 2);
    await assert.rejects(entries.store({ ...request, idempotency: { key: 'k1', bodyHash: 'h2' } }), {
      code: 'idempotency_conflict',
    });
    const results = await Promise.all(
      Array.from({ length: 8 }, () =>
        entries.store({ entries: [entry('idem 2', 'x')], idempotency: { key: 'k2', bodyHash: 'h' } }),
      ),
    );
    assert.equal(new Set(results.map(([outcome]) => outcome?.id)).size, 1);
  });

  test('002 update_context: changes only the given fields, and updated_at', async () => {
    const [id = 0] = await store(
      entry('up', 'old text', { metadata: { a: 1, keep: { x: 1, y: 2 } }, tags: ['t'], summary: 's' }),
    );
    const before = await one(id);
    await entries.update({
      updates: [{ id, metadataPatch: { a: null, b: 'new', keep: { x: null } } }],
      allOrNothing: true,
    });
    const patched = await one(id);
    assert.deepEqual(patched?.metadata, { keep: { y: 2 }, b: 'new' });
    assert.deepEqual(
      [patched?.text, patched?.tags, patched?.summary, patched?.createdAt],
      ['old text', ['t'], 's', before?.createdAt],
    );
    assert.ok(patched && before && patched.updatedAt > before.updatedAt);
    await entries.update({
      updates: [{ id, text: 'new words', tags: [], images: [image] }],
      allOrNothing: true,
    });
    const changed = await one(id, true);
    assert.deepEqual(
      [changed?.text, changed?.summary, changed?.tags, changed?.contentType],
      ['new words', undefined, [], 'multimodal'],
    );
    assert.deepEqual(await found('old', 'up'), []);
    assert.deepEqual(await found('words', 'up'), [id]);
    const [outcome] = await entries.update({ updates: [{ id, images: [] }], allOrNothing: true });
    assert.deepEqual(outcome, { id, found: true, hadSummary: false });
    assert.equal((await one(id))?.contentType, 'text');
  });

  test('002 update_context_batch: all or nothing, or each separately', async () => {
    const [id = 0] = await store(entry('batch', 'text'));
    const updates = [
      { id, tags: ['changed'] },
      { id: 999_999, tags: ['x'] },
    ];
    await assert.rejects(entries.update({ updates, allOrNothing: true }), { code: 'entry_not_found' });
    assert.deepEqual((await one(id))?.tags, []);
    const outcomes = await entries.update({ updates, allOrNothing: false });
    assert.deepEqual(
      outcomes.map(({ found: is }) => is),
      [true, false],
    );
    assert.deepEqual((await one(id))?.tags, ['changed']);
  });

  test('002 delete_context: deleted entries disappear from every read, and can be restored for 30 days', async () => {
    const [a = 0, b = 0] = await store(
      entry('gone', 'vanishing zebra', { tags: ['g'], metadata: { k: 1 } }),
      entry('gone', 'other'),
    );
    const { hash, ...dry } = await entries.remove({ ids: [a], dryRun: true });
    assert.deepEqual(dry, { count: 1, ids: [a] });
    assert.match(hash ?? '', /^[0-9a-f]{64}$/, 'tells whether the same would be removed later');
    assert.ok(await one(a));
    assert.deepEqual(await entries.remove({ ids: [a, 999_999], dryRun: false }), { count: 1, ids: [a] });
    assert.equal(await one(a), undefined);
    assert.deepEqual(await found('zebra'), []);
    assert.deepEqual(
      (await list({ filter: { threadId: 'gone' } })).map(({ id }) => id),
      [b],
    );
    assert.deepEqual(await entries.matching({ tags: ['g'] }), []);
    assert.deepEqual(await entries.restore({ ids: [a] }), { ids: [a] });
    assert.deepEqual(await found('zebra'), [a]);
    assert.deepEqual((await one(a))?.metadata, { k: 1 });
    await entries.remove({ threadIds: ['gone'], dryRun: false });
    time += 31 * dayMs;
    assert.deepEqual(await entries.restore({ threadId: 'gone' }), { ids: [] });
  });

  test('002 delete_context_batch: deletes entries that meet all criteria', async () => {
    const [old = 0] = await store(entry('crit', 'old one'), entry('crit', 'old agent', { source: 'agent' }));
    time += 10 * dayMs;
    const [young = 0] = await store(entry('crit', 'young one'));
    assert.deepEqual(await entries.remove({ threadIds: ['crit'], source: 'user', olderThanDays: 5, dryRun: false }), {
      count: 1,
      ids: [old],
    });
    assert.ok(await one(young));
    await assert.rejects(entries.remove({ source: 'user', dryRun: false }));
  });

  test('002 search_context: filters combine, tags are alternatives, dates include both ends', async () => {
    const [a = 0, b = 0, c = 0] = await store(
      entry('f', 'one', { tags: ['red', 'blue'] }),
      entry('f', 'two', { source: 'agent', tags: ['green'], images: [image] }),
      entry('f', 'three'),
    );
    const ids = async (filter: ListRequest['filter']) =>
      (await list({ filter: { threadId: 'f', ...filter } })).map(({ id }) => id);
    assert.deepEqual(await ids({}), [c, b, a]);
    assert.deepEqual(await ids({ tags: ['blue', 'green'] }), [b, a]);
    assert.deepEqual(await ids({ source: 'agent' }), [b]);
    assert.deepEqual(await ids({ contentType: 'multimodal' }), [b]);
    assert.deepEqual(await ids({ contentType: 'text', tags: ['green'] }), []);
    const at = (await one(b))?.createdAt ?? '';
    assert.deepEqual(await ids({ createdFrom: at, createdTo: at }).then((some) => some.includes(b)), true);
    assert.deepEqual(await ids({ createdTo: '2020-01-01T00:00:00.000Z' }), []);
  });

  test('pages of a listing and of a search are disjoint, complete and stable', async () => {
    await entries.store({
      entries: Array.from({ length: 230 }, (_, index) =>
        entry('pages', `filler ${index} ${'common '.repeat(index % 5)}`),
      ),
    });
    const all = (await list({ filter: { threadId: 'pages' } })).map(({ id }) => id);
    const paged: number[] = [];
    for (let offset = 0; offset < 240; offset += 17) {
      paged.push(...(await list({ filter: { threadId: 'pages' }, limit: 17, offset })).map(({ id }) => id));
    }
    assert.deepEqual(paged, all);
    const searched: number[] = [];
    const request = {
      query: plainQuery('filler common'),
      filter: { threadId: 'pages' },
      images: false,
      explain: false,
    };
    for (let offset = 0; offset < 240; offset += 17) {
      searched.push(...(await entries.searchWords({ ...request, limit: 17, offset })).hits.map(({ id }) => id));
    }
    assert.equal(new Set(searched).size, 230);
    assert.equal(searched.length, 230);
  });

  test('a filter that matches hundreds of entries works in listings and searches', async () => {
    await entries.store({
      entries: Array.from({ length: 700 }, (_, index) =>
        entry('wide', `wide ${index % 2 === 0 ? 'even' : 'odd'} ${index}`, {
          metadata: { wide: index < 600, index },
          tags: index % 3 === 0 ? ['third', 'every'] : ['every'],
        }),
      ),
    });
    const wide = { path: ['wide'], operator: 'eq' as const, value: true, caseSensitive: false };
    const absent = { path: ['absent'], operator: 'not_exists' as const };
    const filter = { metadata: [wide, absent], tags: ['every'] };
    assert.equal((await list({ filter })).length, 600);
    const request = { query: plainQuery('even'), filter, offset: 0, explain: false };
    const { hits, total } = await entries.searchWords({ ...request, limit: 500 });
    assert.deepEqual([hits.length, total], [300, 300]);
    const narrow = { metadata: [wide, { ...wide, path: ['index'], value: 6 }], tags: ['every', 'third'] };
    assert.equal((await list({ filter: narrow })).length, 1);
    assert.equal((await entries.searchWords({ ...request, filter: narrow, limit: 5 })).total, 1);
    assert.equal((await list({ filter: { ...filter, tags: ['third'] }, limit: 1000 })).length, 200);
  });

  test('the plan of a metadata filter uses an index', async () => {
    await entries.store({
      entries: Array.from({ length: 300 }, (_, index) =>
        entry('plan', `plan ${index}`, { metadata: { status: `s${index}` } }),
      ),
    });
    const filter = { metadata: [{ path: ['status'], operator: 'eq' as const, value: 's7', caseSensitive: false }] };
    const page = await entries.list({ filter, limit: 5, offset: 0, images: false, explain: true });
    assert.equal(page.entries.length, 1);
    if (backend.name === 'sqlite') assert.match(page.plan ?? '', /context_fields_text/);
    else assert.match(page.plan ?? '', /context_fields/);
  });

  test('002 list_threads, get_statistics: counts exclude deleted entries', async () => {
    const [, second = 0] = await store(
      entry('stat', 'a', { tags: ['s1'], images: [image] }),
      entry('stat', 'b', { source: 'agent' }),
      entry('stat', 'c'),
    );
    const before = await entries.statistics({ model: undefined });
    await entries.remove({ ids: [second], dryRun: false });
    const after = await entries.statistics({ model: undefined });
    assert.equal(after.total, before.total - 1);
    assert.equal(after.indexed, after.total);
    assert.equal(after.bySource['agent'], (before.bySource['agent'] ?? 0) - 1);
    const thread = (await entries.threads({ limit: 1_000, offset: 0 })).threads.find(
      ({ threadId }) => threadId === 'stat',
    );
    assert.deepEqual([thread?.entries, thread?.sources, thread?.multimodal], [2, 1, 1]);
    const page = await entries.threads({ limit: 2, offset: 1 });
    assert.equal(page.threads.length, 2);
    assert.equal(page.total, after.threads);
    const some = await entries.threads({ containing: 'tat', limit: 1, offset: 0 });
    assert.deepEqual([some.threads.map(({ threadId }) => threadId), some.total], [['stat'], 1]);
  });
});
