import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Entry, EntryFilter, Metadata, NewImage } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';
import { size } from '../support/sizes.ts';

const seed = 20_261_115;
const start = Date.parse('2026-01-01T00:00:00.000Z');
const changes = size({ quick: 120, full: 250 });
const dayMs = 86_400_000;
const at = (ms: number) => new Date(start + ms).toISOString();

/** An entry in the test's own record. */
interface Known {
  id: number;
  threadId: string;
  text: string;
  metadata: Metadata | undefined;
  tags: string[];
  images: number[];
}

type State = ReadonlyMap<number, Known>;

const metadata = fc.record(
  { status: fc.constantFrom('open', 'done'), n: fc.constantFrom(1, 2) },
  { noNullPrototype: true },
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('store' as const), metadata, tag: fc.constantFrom('x', 'y') }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      index: fc.nat(),
      text: fc.option(fc.nat(5), { nil: undefined }),
      metadata: fc.option(metadata, { nil: undefined }),
      tags: fc.option(fc.subarray(['x', 'y', 'z']), { nil: undefined }),
      images: fc.option(fc.subarray([1, 2]), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), index: fc.nat() }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const filters: [filter: EntryFilter, holds: (entry: Known) => boolean][] = [
  [{}, () => true],
  [{ threadId: 'even' }, ({ threadId }) => threadId === 'even'],
  [{ tags: ['x', 'z'] }, ({ tags }) => tags.includes('x') || tags.includes('z')],
  [{ contentType: 'multimodal' }, ({ images }) => images.length > 0],
  [
    { metadata: [{ path: ['status'], operator: 'eq', value: 'done', caseSensitive: false }] },
    (entry) => entry.metadata?.['status'] === 'done',
  ],
  [
    { metadata: [{ path: ['n'], operator: 'gt', value: 1, caseSensitive: false }], tags: ['y'] },
    (entry) => Number(entry.metadata?.['n']) > 1 && entry.tags.includes('y'),
  ],
];

onEachBackend('the past of entries', (backend) => {
  let entries: EntryStore;
  let time = 0;
  before(async () => {
    ({ entries } = await backend.open({ now: () => new Date(start + time) }));
  });
  const image = (byte: number): NewImage => ({
    data: new Uint8Array([byte]),
    mimeType: 'image/png',
    metadata: undefined,
  });
  const list = async (filter: EntryFilter, images = false) =>
    (await entries.list({ filter, limit: 1000, offset: 0, images, explain: false })).entries;
  const known = ({ id, threadId, text, metadata: data, tags, images = [] }: Entry): Known => ({
    ...{ id, threadId, text, metadata: data, tags: [...tags] },
    images: images.map(({ data: [byte = 0] }) => byte),
  });

  /** Performs the step on the store and on the record. */
  async function perform(given: Step, state: State, removed: Map<number, Known>): Promise<State> {
    const next = new Map(state);
    if (given.kind === 'store') {
      const count = state.size + removed.size;
      const entry = { threadId: count % 2 === 0 ? 'even' : 'odd', text: `entry ${count}`, metadata: given.metadata };
      const [outcome] = await entries.store({
        entries: [{ ...entry, source: 'user', tags: [given.tag], images: [], summary: undefined }],
      });
      const id = outcome?.id ?? 0;
      return next.set(id, { id, ...entry, tags: [given.tag], images: [] });
    }
    const pool = [...(given.kind === 'restore' ? removed : state).keys()];
    const id = pool[given.index % Math.max(1, pool.length)];
    const entry = id === undefined ? undefined : (removed.get(id) ?? state.get(id));
    if (id === undefined || entry === undefined) return state;
    if (given.kind === 'remove') {
      await entries.remove({ ids: [id], dryRun: false });
      removed.set(id, entry);
      next.delete(id);
    } else if (given.kind === 'restore') {
      await entries.restore({ ids: [id] });
      removed.delete(id);
      next.set(id, entry);
    } else {
      const change = {
        ...(given.text === undefined ? {} : { text: `changed ${given.text}` }),
        ...(given.metadata === undefined ? {} : { metadata: given.metadata }),
        ...(given.tags === undefined ? {} : { tags: given.tags }),
      };
      const { images } = given;
      await entries.update({
        updates: [{ id, ...change, ...(images === undefined ? {} : { images: images.map(image) }) }],
        allOrNothing: true,
      });
      next.set(id, { ...entry, ...change, ...(images === undefined ? {} : { images }) });
    }
    return next;
  }

  test(`is exact: ${changes} random changes, compared with a record of each state`, async () => {
    const states: { time: number; state: State }[] = [];
    let state: State = new Map();
    const removed = new Map<number, Known>();
    for (const given of fc.sample(step, { seed, numRuns: changes })) {
      time += 1_000;
      state = await perform(given, state, removed);
      states.push({ time, state });
    }
    const byId = (all: readonly Known[]) => [...all].sort((a, b) => a.id - b.id);
    for (const [index, { time: then, state: past }] of states.entries()) {
      if (index % 5 !== 0) continue;
      for (const [filter, holds] of filters) {
        const asOf = at(then + (index % 2) * 999);
        const expected = byId([...past.values()].filter(holds));
        const found = await list({ ...filter, asOf }, true);
        assert.deepEqual(byId(found.map(known)), expected, `${asOf} ${JSON.stringify(filter)}`);
        const texts = await entries.texts({ filter: { ...filter, asOf }, after: 0, limit: 1000 });
        assert.deepEqual(
          texts,
          expected.map(({ id, text }) => ({ id, text })),
        );
        assert.equal((await entries.historyGaps({ ...filter, asOf })).unknown, 0);
      }
      const ids = [...(states.at(-1)?.state.keys() ?? []), ...past.keys()];
      const got = await entries.get({ ids: [...new Set(ids)], images: true, asOf: at(then) });
      assert.deepEqual(byId(got.map(known)), byId([...past.values()]));
    }
    assert.deepEqual(byId((await list({}, true)).map(known)), byId([...state.values()]), 'without as_of it is now');
  });

  test('searches find only entries whose text is unchanged, and count the others', async () => {
    time += 1_000;
    const store = async (text: string) =>
      (
        await entries.store({
          entries: [
            { threadId: 'search', source: 'user', text, metadata: { n: 1 }, tags: [], images: [], summary: undefined },
          ],
        })
      )[0]?.id ?? 0;
    const [kept, retagged, rewritten, gone] = [
      await store('walrus one'),
      await store('walrus two'),
      await store('tusk three'),
      await store('walrus four'),
    ];
    const asOf = at(time);
    time += 1_000;
    await entries.update({
      updates: [
        { id: retagged, tags: ['new'], metadata: { n: 2 } },
        { id: rewritten, text: 'walrus now' },
      ],
      allOrNothing: true,
    });
    await entries.remove({ ids: [gone], dryRun: false });
    time += 1_000;
    await store('walrus later');
    const search = async (filter: EntryFilter) => {
      const request = { query: plainQuery('walrus'), filter: { threadId: 'search', ...filter } };
      const { hits } = await entries.searchWords({ ...request, limit: 10, offset: 0, explain: true });
      return hits.map(({ id }) => id).sort((a, b) => a - b);
    };
    assert.deepEqual(await search({ asOf }), [kept, retagged]);
    assert.deepEqual(await search({ asOf, tags: ['new'] }), []);
    const then = { path: ['n'], operator: 'eq' as const, value: 1, caseSensitive: false };
    assert.deepEqual(await search({ asOf, metadata: [then] }), [kept, retagged]);
    assert.deepEqual(await entries.matching({ threadId: 'search', asOf }), [kept, retagged]);
    const gaps = await entries.historyGaps({ threadId: 'search', asOf });
    assert.deepEqual(gaps, { unknown: 0, unsearched: 2, purged: false });
    const shown = await list({ threadId: 'search', asOf });
    assert.deepEqual(
      shown.map(({ text }) => text),
      ['walrus four', 'tusk three', 'walrus two', 'walrus one'],
    );
  });

  test('omits and counts entries whose earlier state is unknown', async () => {
    const record = { source: 'user' as const, metadata: undefined, tags: [], images: [], summary: undefined };
    await entries.store({
      entries: [{ ...record, threadId: 'old', text: 'imported', createdAt: at(-9 * dayMs), updatedAt: at(-dayMs) }],
    });
    const asOf = at(-5 * dayMs);
    assert.deepEqual(await list({ threadId: 'old', asOf }), []);
    assert.equal((await entries.historyGaps({ threadId: 'old', asOf })).unknown, 1);
    assert.equal((await list({ threadId: 'old', asOf: at(-dayMs) })).length, 1);
    const [first] = await entries.store({ entries: [{ ...record, threadId: 'purge', text: 'first' }] });
    const [second] = await entries.store({ entries: [{ ...record, threadId: 'purge', text: 'second' }] });
    const before = at(time);
    time += 1_000;
    await entries.update({ updates: [{ id: first?.id ?? 0, text: 'first, changed' }], allOrNothing: true });
    await entries.remove({ ids: [second?.id ?? 0], dryRun: false });
    assert.equal((await list({ threadId: 'purge', asOf: before })).length, 2);
    time += 31 * dayMs;
    const [third] = await entries.store({ entries: [{ ...record, threadId: 'purge', text: 'third' }] });
    await entries.update({ updates: [{ id: third?.id ?? 0, tags: ['t'] }], allOrNothing: true });
    await entries.remove({ ids: [third?.id ?? 0], dryRun: false });
    assert.deepEqual(await list({ threadId: 'purge', asOf: before }), []);
    const gaps = await entries.historyGaps({ threadId: 'purge', asOf: before });
    assert.deepEqual([gaps.unknown, gaps.purged], [1, true]);
  });

  test('thread counts are right after every kind of write', async () => {
    const all = await list({}, true);
    const { threads, total } = await entries.threads({ limit: 1_000, offset: 0 });
    const expected = [...Map.groupBy(all, ({ threadId }) => threadId)].map(([threadId, group]) => ({
      threadId,
      entries: group.length,
      sources: new Set(group.map(({ source }) => source)).size,
      multimodal: group.filter(({ images = [] }) => images.length > 0).length,
      firstEntry: group.map(({ createdAt }) => createdAt).reduce((a, b) => (a < b ? a : b)),
      lastEntry: group.map(({ createdAt }) => createdAt).reduce((a, b) => (a > b ? a : b)),
      lastId: Math.max(...group.map(({ id }) => id)),
    }));
    assert.deepEqual(
      threads,
      expected.sort((a, b) => (a.lastEntry === b.lastEntry ? b.lastId - a.lastId : a.lastEntry < b.lastEntry ? 1 : -1)),
    );
    assert.equal(total, expected.length);
    const statistics = await entries.statistics({ model: undefined });
    const tags = all.flatMap((entry) => entry.tags);
    assert.deepEqual(
      [statistics.total, statistics.threads, statistics.uniqueTags, statistics.indexed],
      [all.length, total, new Set(tags).size, all.length],
    );
    assert.equal(
      statistics.images,
      all.reduce((sum, { images = [] }) => sum + images.length, 0),
    );
  });
});
