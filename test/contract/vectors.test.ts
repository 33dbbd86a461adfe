import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { quantise } from '../../src/storage/vectors/quantise.ts';
import type { TextToEmbed } from '../../src/storage/vectors/vector.ts';
import type { VectorStore } from '../../src/storage/vectors/vector-store.ts';
import { onEachBackend } from '../support/backends.ts';
import { type PassageWriter, passageWriter, type TestPassage } from '../support/passages.ts';

const one = new Float32Array([0.5, -0.25, 1.5e-42, 1 / 3]);
const two = new Float32Array([-1, 0, 3.4e38, 1]);

onEachBackend('vectors', (backend) => {
  let storage: Storage;
  let passages: PassageWriter;
  before(async () => {
    storage = await backend.open();
    passages = passageWriter(storage);
  });

  const store = async (...texts: string[]): Promise<number[]> => {
    const outcomes = await storage.entries.store({ entries: texts.map((text) => entry('thread', text)) });
    return outcomes.map(({ id }) => id);
  };

  test('a text is pending from its write until it is embedded, with its preceding text', async () => {
    const { context } = storage.vectors;
    const [first = 0] = await store('first');
    assert.deepEqual(await context.waiting({ model: 'a', limit: 10 }), []);
    assert.deepEqual(pick(await context.state({ model: 'a' })), { isChosen: false, lastKey: 0, pending: 1 });
    await context.choose({ model: 'a' });
    const [second = 0] = await store('second');
    const waiting = await context.waiting({ model: 'a', limit: 10 });
    assert.deepEqual(
      waiting.map(({ owner, text, before }) => [owner, text, before]),
      [
        [first, 'first', undefined],
        [second, 'second', 'first'],
      ],
    );
    assert.equal((await context.waiting({ model: 'a', limit: 1 })).length, 1);
    assert.deepEqual(await context.unembedded({ model: 'a' }), [first, second]);
    assert.deepEqual(await context.unembedded({ model: 'none' }), []);
    const [chosen, ...others] = await context.waiting({ model: 'a', limit: 10, owners: [second, 999_999] });
    assert.deepEqual([chosen?.owner, others], [second, []]);
    assert.equal(await put(context, 'a', waiting, [window(one, 0, 2), window(two, 2, 5)]), 2);
    assert.equal((await context.state({ model: 'a' })).pending, 0);
    // A text without vectors is also done: the model cannot embed it.
    const [empty = 0] = await store('third');
    assert.equal(await put(context, 'a', await context.waiting({ model: 'a', limit: 10 }), []), 1);
    assert.deepEqual(await context.waiting({ model: 'a', limit: 10 }), []);
    assert.ok(empty > second);
  });

  test('a vector is stored bit for bit, alone and in blocks', async () => {
    const { context } = storage.vectors;
    const state = await context.state({ model: 'a' });
    const block = await context.after({ model: 'a', after: 0, limit: 3 });
    assert.deepEqual([block.dimensions, block.keys.length, block.codes.length], [4, 3, 12]);
    assert.deepEqual([...block.codes.slice(0, 8)], [...quantise(one).codes, ...quantise(two).codes]);
    assert.equal(block.scales[0], Math.fround(quantise(one).scale));
    const rest = await context.after({ model: 'a', after: block.keys[2] ?? 0, limit: 3 });
    assert.deepEqual([...rest.keys], [state.lastKey]);
    const [key = 0, owner] = [block.keys[1], block.owners[1]];
    for (const [index, component] of two.entries()) {
      const query = new Float32Array(4);
      query[index] = 1;
      const scores = await context.score({ query, keys: [key, 999_999] });
      assert.deepEqual(scores, [{ key, owner, start: 2, end: 5, score: component }]);
    }
    const query = new Float32Array([1, 2, 0, 3]);
    const [scored] = await context.score({ query, keys: [block.keys[0] ?? 0, 999_999] });
    assert.equal(scored?.owner, block.owners[0]);
    assert.ok(Math.abs((scored?.score ?? 0) - 1) < 1e-6);
    assert.deepEqual((await context.after({ model: 'absent', after: 0, limit: 3 })).keys.length, 0);
  });

  test('a changed, deleted or restored text loses its vectors and, if it exists, is pending again', async () => {
    const { context } = storage.vectors;
    const [id = 0] = await store('changing');
    const [stale] = await context.waiting({ model: 'a', limit: 10 });
    assert.ok(stale);
    await put(context, 'a', [stale], [window(one)]);
    const { lastKey, lastRemoval } = await context.state({ model: 'a' });

    await storage.entries.update({ updates: [{ id, text: 'changed' }], allOrNothing: true });
    assert.deepEqual(await context.score({ query: one, keys: [lastKey] }), []);
    const [removal] = await context.removedAfter({ after: lastRemoval, limit: 10 });
    assert.equal(removal?.key, lastKey);
    assert.equal((await context.state({ model: 'a' })).lastRemoval, removal?.number);
    assert.equal(await put(context, 'a', [stale], [window(one)]), 0, 'vectors of the old text');
    const [fresh] = await context.waiting({ model: 'a', limit: 10 });
    assert.deepEqual([fresh?.owner, fresh?.text], [id, 'changed']);

    await storage.entries.remove({ ids: [id], dryRun: false });
    assert.deepEqual(await context.waiting({ model: 'a', limit: 10 }), []);
    assert.equal(await put(context, 'a', fresh ? [fresh] : [], [window(one)]), 0, 'vectors of a removed text');
    await storage.entries.restore({ ids: [id] });
    assert.equal((await context.waiting({ model: 'a', limit: 10 }))[0]?.owner, id);
    // An update of other fields keeps the vectors.
    await put(context, 'a', await context.waiting({ model: 'a', limit: 10 }), [window(two)]);
    await storage.entries.update({ updates: [{ id, tags: ['new'] }], allOrNothing: true });
    assert.equal((await context.state({ model: 'a' })).pending, 0);
  });

  test('models coexist; the last chosen is the newest; one can be dropped and return', async () => {
    const { context } = storage.vectors;
    await context.choose({ model: 'b' });
    const all = (await context.state({ model: 'b' })).pending;
    assert.ok(all > 2);
    const waiting = await context.waiting({ model: 'b', limit: 100 });
    await put(context, 'b', waiting, [window(new Float32Array([1, 0]))]);
    const models = await context.models();
    assert.deepEqual(
      models.map(({ model, dimensions, pending }) => [model, dimensions, pending]),
      [
        ['a', 4, 0],
        ['b', 2, 0],
      ],
    );
    assert.equal(models[1]?.vectors, all);
    await context.choose({ model: 'a' });
    assert.deepEqual(
      (await context.models()).map(({ model }) => model),
      ['b', 'a'],
    );
    const removals = (await context.state({ model: 'a' })).lastRemoval;
    await context.drop('b');
    await context.drop('never');
    assert.deepEqual(
      (await context.models()).map(({ model }) => model),
      ['a'],
    );
    // Dropping another model does not count as a removal.
    assert.equal((await context.state({ model: 'a' })).lastRemoval, removals);
    assert.equal(await put(context, 'b', waiting, [window(one)]), 0, 'a dropped model takes nothing');
    await context.choose({ model: 'b' });
    assert.equal((await context.state({ model: 'b' })).pending, all);
    await context.drop('b');
  });

  test('rejects vectors of another length, and stores nothing', async () => {
    const { context } = storage.vectors;
    await store('another length');
    const waiting = await context.waiting({ model: 'a', limit: 10 });
    await assert.rejects(put(context, 'a', waiting, [window(new Float32Array(3))]), { code: 'unavailable' });
    assert.equal((await context.state({ model: 'a' })).pending, 1);
  });

  test('a passage is pending as soon as it is written', async () => {
    const { kb } = storage.vectors;
    const vectors = { model: 'k', windows: [window(one, 0, 4), window(two, 4, 8)] };
    await passages.replace([
      { parent: 'doc', passages: [passage('p0', { vectors }), passage('p1'), passage('p2', { vectors })] },
    ]);
    const waiting = await kb.waiting({ model: 'k', limit: 10 });
    assert.deepEqual(
      waiting.map(({ text, titlePath }) => [text, titlePath]),
      [['body of p1', ['Title', 'Chapter']]],
    );
    assert.deepEqual(pick(await kb.state({ model: 'k' })), { isChosen: true, lastKey: 4, pending: 1 });
    assert.equal(await put(kb, 'k', waiting, [window(one)]), 1);

    assert.deepEqual(pick(await kb.state({ model: 'k' })), { isChosen: true, lastKey: 5, pending: 0 });

    const keys = (await kb.matching({})).toSorted((a, b) => a - b);
    assert.deepEqual(passages.idsOf(await storage.passages.get(keys)), ['p0', 'p1', 'p2']);
    assert.deepEqual(await kb.matching({ labels: [['absent']] }), []);

    await passages.replace([{ parent: 'doc', passages: [passage('p0')] }]);
    assert.deepEqual(pick(await kb.state({ model: 'k' })), { isChosen: true, lastKey: 0, pending: 1 });
    await passages.remove(['doc']);
    assert.equal((await kb.state({ model: 'k' })).pending, 0);
    assert.equal((await storage.vectors.context.state({ model: 'k' })).isChosen, false, 'corpora share nothing');
  });

  test('all passages of a large write are pending for each model, except those with vectors', async () => {
    const { kb } = storage.vectors;
    await kb.choose({ model: 'first' });
    await kb.choose({ model: 'second' });
    const vectors = { model: 'first', windows: [window(one)] };
    const many = (parent: string) =>
      Array.from({ length: 150 }, (_, index) =>
        passage(`${parent}-${index}`, index % 2 === 0 ? { vectors } : undefined),
      );
    await passages.replace(['large', 'larger'].map((parent) => ({ parent, passages: many(parent) })));
    assert.deepEqual(
      [(await kb.state({ model: 'first' })).pending, (await kb.state({ model: 'second' })).pending],
      [150, 300],
    );
    const waiting = await kb.waiting({ model: 'first', limit: 1000 });
    assert.deepEqual(
      waiting.slice(0, 2).map(({ text }) => text),
      ['body of large-1', 'body of large-3'],
    );
    // Rewritten passages are pending once.
    await passages.replace([{ parent: 'large', passages: many('large') }]);
    assert.equal((await kb.state({ model: 'second' })).pending, 300);
    assert.equal((await kb.matching({ labels: [['tag:l']] })).length, 300);
    await passages.remove(['large', 'larger']);
    assert.equal((await kb.state({ model: 'second' })).pending, 0);
    assert.deepEqual(await kb.matching({ labels: [['tag:l']] }), [], 'labels go with their passages');
  });
});

function window(vector: Float32Array, start = 0, end = 1) {
  return { start, end, vector };
}

function put<Filter>(
  vectors: VectorStore<Filter>,
  model: string,
  texts: readonly TextToEmbed[],
  windows: ReturnType<typeof window>[],
): Promise<number> {
  return vectors.put({ model, texts: texts.map(({ owner, textHash }) => ({ owner, textHash, windows })) });
}

function pick({ isChosen, lastKey, pending }: { isChosen: boolean; lastKey: number; pending: number }) {
  return { isChosen, lastKey, pending };
}

function entry(threadId: string, text: string): NewEntry {
  return { threadId, source: 'user', text, metadata: undefined, tags: [], images: [], summary: undefined };
}

function passage(id: string, more: Partial<TestPassage> = {}): TestPassage {
  return { id, title: 'Title', headings: ['Chapter'], body: `body of ${id}`, labels: ['l'], ...more };
}
