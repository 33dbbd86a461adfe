import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFakeEngine } from '../../../../test/fakes/kb-engine/start-fake-engine.ts';
import { createRemoteEngine } from '../../../engine/remote/create-remote-engine.ts';
import { createKbListTool } from '../tools/kb-list.ts';
import { checkCollection, topNames, unknownCollection } from './hints.ts';

test('lists collections and tags separately, largest first, up to the limit', async (t) => {
  const fake = await startFakeEngine(t);
  const engine = createRemoteEngine({ engineUrl: fake.origin, timeoutMs: 5_000 });
  t.after(() => engine.close());
  for (const [tag, count] of Object.entries({ 'collection:b': 1, x: 2, 'collection:c': 3, y: 4, z: 1 })) {
    for (let index = 0; index < count; index += 1) fake.add({ tags: [tag] });
  }
  assert.deepEqual(await topNames(engine, 2, {}), {
    collections: {
      top: [
        { name: 'c', documents: 3 },
        { name: 'b', documents: 1 },
      ],
      total: 2,
    },
    tags: {
      top: [
        { name: 'y', documents: 4 },
        { name: 'x', documents: 2 },
      ],
      total: 3,
    },
  });
  assert.equal(fake.requests.length, 1);
});

test('an error names at most ten collections, the nearest first', () => {
  const many = Array.from({ length: 30 }, (_, index) => `box ${index}`);
  const { message } = unknownCollection('memry', [...many, 'Memory']);
  assert.match(
    message,
    /^There is no collection memry\. Existing collections: Memory, box \d+, .* and 21 more \(kb_list\)\.$/,
  );
  assert.match(unknownCollection('x', []).message, /no collections yet/);
});

test('accepts an existing collection even among more names than it compares', async (t) => {
  const fake = await startFakeEngine(t);
  const engine = createRemoteEngine({ engineUrl: fake.origin, timeoutMs: 5_000 });
  t.after(() => engine.close());
  for (let index = 0; index < 10_001; index += 1) fake.add({ tags: [`collection:box ${index}`] });
  const check = (collection: string) => checkCollection(engine, [`collection:${collection}`, 'red'], {});
  await check('box 7');
  await check('box 10000');
  await assert.rejects(check('bax 7'), {
    code: 'collection_not_found',
    message: /^There is no collection bax 7\. Existing collections: box 7, .* and 9991 more \(kb_list\)\.$/,
  });
});

test('filters locally if the engine ignores the query', async (t) => {
  const fake = await startFakeEngine(t);
  const engine = createRemoteEngine({ engineUrl: fake.origin, timeoutMs: 5_000 });
  t.after(() => engine.close());
  fake.add({ title: 'The Lease', tags: ['collection:home'] });
  fake.add({ title: 'Tea', tags: ['collection:home'] });
  const call = { signal: new AbortController().signal } as Parameters<ReturnType<typeof createKbListTool>['run']>[1];
  const answer = new Map(
    Object.entries(await createKbListTool(engine).run({ query: 'lease', limit: 50, offset: 0 }, call)),
  );
  assert.deepEqual([answer.get('total'), (answer.get('documents') as { title: string }[])[0]?.title], [1, 'The Lease']);
  assert.match(fake.requests.find(({ url }) => url.includes('/documents'))?.url ?? '', /query=lease/);
});
