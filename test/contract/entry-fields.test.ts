import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EntryFilter } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import type { IndexFieldsRequest } from '../../src/storage/entries/indexed-fields.ts';
import { onEachBackend } from '../support/backends.ts';

const is = (path: string[], value: string | number): EntryFilter => ({
  metadata: [{ path, operator: 'eq', value, caseSensitive: false }],
});

onEachBackend('upstreams 1.16: the index of metadata', (backend) => {
  let entries: EntryStore;
  before(async () => {
    ({ entries } = await backend.open());
  });
  const isIndexed = async (path: string[]) => {
    const request = { filter: is(path, 'v7'), limit: 5, offset: 0, images: false, explain: true };
    const { entries: found, plan = '' } = await entries.list(request);
    assert.equal(found.length, 1, path.join('.'));
    assert.equal(/context_fields/.test(plan), !/not indexed/.test(plan), plan);
    return !/not indexed/.test(plan);
  };
  const index = (mode: IndexFieldsRequest['mode'], ...fields: string[]) => entries.indexFields({ fields, mode });

  test('an empty store indexes the configured fields; later the mode decides', async () => {
    assert.deepEqual(await index('strict', 'a', 'b'), { missing: [], extra: [] });
    await entries.store({
      entries: Array.from({ length: 300 }, (_, number) => ({
        ...{
          threadId: 't',
          source: 'user' as const,
          text: `entry ${number}`,
          tags: [],
          images: [],
          summary: undefined,
        },
        metadata: { a: `v${number}`, b: `v${number}`, c: { d: `v${number}` } },
      })),
    });
    assert.deepEqual([await isIndexed(['a']), await isIndexed(['c', 'd'])], [true, false]);
    assert.deepEqual(await index('strict', 'a', 'c:object'), { missing: ['c:object'], extra: ['b'] });
    assert.deepEqual(await index('warn', 'a', 'c:object'), { missing: ['c:object'], extra: ['b'] });
    assert.equal(await isIndexed(['c', 'd']), false);
    assert.deepEqual(await index('additive', 'a', 'c:object'), { missing: [], extra: ['b'] });
    assert.deepEqual([await isIndexed(['c', 'd']), await isIndexed(['b'])], [true, true]);
    assert.deepEqual(await index('auto', 'a', 'c.d'), { missing: [], extra: [] });
    assert.deepEqual(
      [await isIndexed(['a']), await isIndexed(['b']), await isIndexed(['c', 'd'])],
      [true, false, true],
    );
    assert.deepEqual(await index('strict', 'c.d', 'a'), { missing: [], extra: [] });
  });

  test('indexes the metadata of new and changed entries', async () => {
    const [stored] = await entries.store({
      entries: [
        {
          ...{ threadId: 'w', source: 'user', text: 'w', tags: [], images: [], summary: undefined },
          metadata: { a: 'w1', b: 'w1', c: { d: 'w1' } },
        },
      ],
    });
    const id = stored?.id ?? 0;
    for (const path of [['a'], ['b'], ['c', 'd']]) assert.deepEqual(await entries.matching(is(path, 'W1')), [id]);
    await entries.update({ updates: [{ id, metadataPatch: { c: { d: 'w2' }, b: 'w2' } }], allOrNothing: true });
    for (const path of [['b'], ['c', 'd']]) {
      assert.deepEqual(await entries.matching(is(path, 'w1')), []);
      assert.deepEqual(await entries.matching(is(path, 'w2')), [id]);
    }
  });

  test('distinguishes entries with a text from entries that only share its beginning', async () => {
    await index('auto', 'status', 'other');
    // Longer than the indexed part of a text.
    const long = 'ß'.repeat(120);
    const texts = [`${long}a`, `${long}A`, `${long}b`];
    await entries.store({
      entries: Array.from({ length: 1800 }, (_, number) => ({
        ...{ threadId: 't', source: 'user' as const, text: `shared ${number}`, images: [], summary: undefined },
        metadata: { status: texts[number % 3], other: number % 2 === 0 ? texts[0] : 5 },
        tags: [],
      })),
    });
    const found = async (status: string, caseSensitive: boolean, other: EntryFilter['metadata'] = []) => {
      const metadata = [{ path: ['status'], operator: 'eq' as const, value: status, caseSensitive }, ...other];
      const query = { kind: 'term' as const, term: 'share', written: 'shared' };
      const { total, hits } = await entries.searchWords({
        query,
        filter: { metadata },
        limit: 5,
        offset: 0,
        explain: false,
      });
      assert.equal(hits.length, Math.min(total, 5));
      return total;
    };
    assert.equal(await found(`${long}a`, true), 600);
    assert.equal(await found(`${long}a`, false), 1200);
    assert.equal(await found(`${long}B`, false), 600);
    assert.equal(await found(`${long}`, false), 0);
    const other = { path: ['other'], operator: 'eq' as const, caseSensitive: false };
    assert.equal(await found(`${long}a`, true, [{ ...other, value: texts[0] ?? '' }]), 300);
    assert.equal(await found(`${long}a`, true, [{ ...other, value: 5 }]), 300);
  });
});
