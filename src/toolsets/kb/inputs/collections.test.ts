import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type FakeOptions, startFakeEngine } from '../../../../test/fakes/kb-engine/start-fake-engine.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createRemoteEngine } from '../../../engine/remote/create-remote-engine.ts';
import { createKbBulkSetTagsTool, createKbBulkTagsTool } from '../tools/bulk-tools.ts';
import { setCollection } from '../tools/change-tools.ts';
import { collectionInput, readTags, splitTags, tagListInput, tagsToMatch, tagsToStore } from './collections.ts';

test('separates the collection from the tags (003 Search results strip collection tags)', () => {
  const tags = ['collection:memory', 'feedback', 'email'];
  assert.deepEqual(splitTags(tags), { collection: 'memory', tags: ['feedback', 'email'] });
  assert.deepEqual(splitTags(['a']), { collection: null, tags: ['a'] });
  // If an engine stores two collection tags, the last one counts, as it did upstream.
  assert.deepEqual(splitTags(['collection:a', 'collection:b']), { collection: 'b', tags: [] });
});

test('stored documents have exactly one collection, by default documents (003 Default collection on addnote)', () => {
  assert.deepEqual(tagsToStore({}), ['collection:documents']);
  assert.deepEqual(tagsToStore({ collection: 'memory', tags: ['a', 'a'] }), ['collection:memory', 'a']);
  assert.deepEqual(tagsToStore({ tags: ['a', 'collection:memory'] }), ['collection:memory', 'a']);
  assert.deepEqual(tagsToStore({ collection: 'memory', tags: ['collection:memory'] }), ['collection:memory']);
});

test('rejects two collections, in any argument', () => {
  assert.throws(() => tagsToStore({ collection: 'a', tags: ['collection:b'] }), /exactly one collection.*a and b/);
  assert.throws(() => readTags({ tags: ['collection:a', 'collection:b'] }), { code: 'invalid_arguments' });
  assert.throws(() => readTags({ tags: ['collection:'] }), { code: 'invalid_arguments' });
});

test('a filter names the collection only if the caller did (003 Search with tags and collection)', () => {
  assert.equal(tagsToMatch({}), undefined);
  assert.deepEqual(tagsToMatch({ tags: ['email'], collection: 'memory' }), ['email', 'collection:memory']);
});

test('rejects names that could not be sent or displayed', () => {
  for (const name of ['', ' ', 'a,b', 'a\nb', 'x'.repeat(101)]) {
    assert.ok(!collectionInput.safeParse(name).success, name);
    assert.ok(!tagListInput.safeParse([name]).success, name);
  }
  assert.equal(collectionInput.parse(' collection:memory '), 'memory');
});

for (const halfTags of [false, true]) {
  const kind = halfTags ? 'does half of a tag request' : 'does tag requests whole';

  test(`an engine that ${kind}: the new collection replaces the old one (003 Exclusive collection enforcement)`, async (t) => {
    const { fake, engine } = await connect(t, { halfTags });
    const { id } = fake.add({ tags: ['collection:documents', 'collection:stray', 'a'] });
    await setCollection(engine, id, 'memory', {});
    assert.deepEqual(fake.documents.get(id)?.tags.toSorted(), ['a', 'collection:memory']);
    const [first] = fake.requests.filter(({ method }) => method === 'PUT');
    assert.deepEqual(first?.body, { remove: ['collection:documents', 'collection:stray'], add: ['collection:memory'] });

    await setCollection(engine, id, undefined, {});
    assert.deepEqual(fake.documents.get(id)?.tags, ['a']);
  });
}

test('does not change a document that is already in the collection', async (t) => {
  const { fake, engine } = await connect(t);
  const { id } = fake.add({ tags: ['collection:memory'] });
  await setCollection(engine, id, 'memory', {});
  assert.deepEqual(
    fake.requests.map(({ method }) => method),
    ['GET'],
  );
});

test('two clients that move a document at the same time leave it in one collection', async (t) => {
  const { fake, engine } = await connect(t);
  const { id } = fake.add({ tags: ['collection:documents'] });
  await Promise.all(['a', 'b', 'c'].map((name) => setCollection(engine, id, name, {})));
  assert.equal(fake.documents.get(id)?.tags.length, 1);
});

test('bulk operations keep every document in exactly one collection', async (t) => {
  const { fake, engine } = await connect(t);
  fake.add({ tags: ['collection:a', 'x'] });
  fake.add({ tags: ['collection:b', 'x', 'y'] });
  fake.add({ tags: ['collection:b', 'z'] });
  const call = { signal: new AbortController().signal } as Parameters<
    ReturnType<typeof createKbBulkTagsTool>['run']
  >[1];
  const tagsOf = () => [...fake.documents.values()].map(({ tags }) => tags.toSorted().join(' '));

  await createKbBulkSetTagsTool(engine).run({ tags: ['x'], set_tags: ['new'], force: false }, call);
  assert.deepEqual(tagsOf(), ['collection:a new', 'collection:b new', 'collection:b z']);

  await createKbBulkTagsTool(engine).run({ tags: ['new'], add: ['collection:c'], remove: ['new'], force: false }, call);
  assert.deepEqual(tagsOf(), ['collection:c', 'collection:c', 'collection:b z']);

  await createKbBulkSetTagsTool(engine).run(
    { collection: 'c', set_tags: ['q'], set_collection: 'd', force: true },
    call,
  );
  assert.deepEqual(tagsOf(), ['collection:d q', 'collection:d q', 'collection:b z']);

  const both = { document_ids: [41], add: ['collection:e'], set_collection: 'f', force: false };
  await assert.rejects(createKbBulkTagsTool(engine).run(both, call), { code: 'invalid_arguments' });
  await assert.rejects(createKbBulkTagsTool(engine).run({ add: ['x'], force: true }, call), /Select documents with/);
});

async function connect(t: TestContext, options: FakeOptions = {}) {
  const fake = await startFakeEngine(t, options);
  const engine: Engine = createRemoteEngine({ engineUrl: fake.origin, timeoutMs: 5_000 });
  t.after(() => engine.close());
  return { fake, engine };
}
