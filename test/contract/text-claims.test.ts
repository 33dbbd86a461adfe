import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { NewEntry } from '../../src/storage/contracts/entries.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { onEachBackend } from '../support/backends.ts';

const model = 'claims';
const leaseMs = 600_000;
/** A claim with this lease has run out when it is made. */
const expired = -1;

onEachBackend('claims on texts that wait for vectors', (backend) => {
  let storage: Storage;
  /** Owners of ten texts that nobody has claimed, the newest first. */
  let texts: number[] = [];
  before(async () => {
    storage = await backend.open();
  });
  beforeEach(async () => {
    const { context } = storage.vectors;
    await context.drop(model);
    const known = await storage.entries.list({ filter: {}, limit: 100, offset: 0, images: false, explain: false });
    await storage.entries.remove({ ids: known.entries.map(({ id }) => id), dryRun: false });
    const stored = await storage.entries.store({ entries: Array.from({ length: 10 }, (_, place) => entry(place)) });
    texts = stored.map(({ id }) => id).reverse();
    await context.choose(model);
  });

  const claim = (claimant: string, more: { limit?: number; owners?: readonly number[]; leaseMs?: number } = {}) =>
    storage.vectors.context.claim({ model, claimant, leaseMs, limit: 10, ...more });
  const claimed = async (...given: Parameters<typeof claim>) => (await claim(...given)).owners;
  const release = (...claimants: string[]) => storage.vectors.context.release({ model, claimants });
  const held = async (claimant: string) =>
    (await storage.vectors.context.waiting({ model, limit: 100, claimant })).map(({ owner }) => owner).reverse();

  test('the newest go to the first who asks, the next to the second, and what is held is told to the third', async () => {
    assert.deepEqual(await claim('a', { limit: 4 }), { owners: texts.slice(0, 4), others: [] });
    const second = await claim('b', { limit: 8 });
    assert.deepEqual(second.owners, texts.slice(4));
    assert.deepEqual(
      second.others,
      texts.slice(0, 4).map((owner) => ({ owner, claimant: 'a' })),
    );
    const { owners, others } = await claim('c', { limit: 5 });
    assert.deepEqual(owners, []);
    assert.deepEqual(
      others,
      texts.slice(0, 5).map((owner, place) => ({ owner, claimant: place < 4 ? 'a' : 'b' })),
    );
    assert.deepEqual(await held('a'), texts.slice(0, 4));
    // All of them wait, whoever has claimed them.
    assert.equal((await storage.vectors.context.state({ model })).pending, 10);
    assert.deepEqual(await claim('a', { limit: 0 }), { owners: [], others: [] });
    assert.deepEqual(
      await storage.vectors.context.claim({ model: 'never chosen', claimant: 'a', leaseMs, limit: 10 }),
      { owners: [], others: [] },
    );
  });

  test('twenty who ask at once never get the same text, and together they get all', async () => {
    const holders = new Map<number, string>();
    const ask = async (claimant: string) => {
      for (const owner of await claimed(claimant, { limit: 1 })) {
        assert.equal(holders.get(owner) ?? claimant, claimant, 'a text was given to two');
        holders.set(owner, claimant);
      }
    };
    // Whoever meets the transaction of another may be left with nothing and asks again, as processes do.
    while (holders.size < 10) {
      await Promise.all(Array.from({ length: 20 }, (_, place) => ask(`claimant ${place}`)));
    }
    for (const [owner, claimant] of holders) assert.deepEqual(await held(claimant), [owner]);
  });

  test('what is asked for is claimed before what is newer, and whoever asks again keeps what he has', async () => {
    const [third = 0, last = 0] = [texts[2], texts[9]];
    assert.deepEqual(await claimed('a', { owners: [last, third, 999_999] }), [third, last]);
    assert.deepEqual(await claimed('a', { owners: [last, third] }), [third, last]);
    const { owners, others } = await claim('b', { owners: [last, texts[0] ?? 0] });
    assert.deepEqual([owners, others], [[texts[0]], [{ owner: last, claimant: 'a' }]]);
  });

  test('a claim runs out unless it is renewed, and then belongs to whoever takes it', async () => {
    await claim('a', { limit: 2, leaseMs: expired });
    await claim('b', { limit: 4, leaseMs: expired });
    // The first two had run out and are b's, who cannot lose them to a renewal.
    await storage.vectors.context.renew({ model, claimant: 'a', leaseMs, owners: texts });
    assert.deepEqual(await claimed('c', { limit: 1 }), texts.slice(0, 1));
    await storage.vectors.context.renew({ model, claimant: 'b', leaseMs, owners: texts.slice(0, 3) });
    assert.deepEqual(await held('b'), texts.slice(1, 4));
    assert.deepEqual(await claimed('d'), texts.slice(3), 'the fourth was not renewed');
  });

  test('what is released is free at once, and only that', async () => {
    await claim('a', { limit: 3 });
    await claim('b', { limit: 3 });
    await claim('c', { limit: 3 });
    await release('a', 'c', 'nobody');
    assert.deepEqual(await held('b'), texts.slice(3, 6));
    assert.deepEqual(await claimed('d'), [...texts.slice(0, 3), ...texts.slice(6)]);
  });

  test('a claimed text that is changed waits again, unclaimed; one that is removed or embedded waits no more', async () => {
    const { context } = storage.vectors;
    const [changed = 0, removed = 0, embedded = 0] = texts;
    const before = await context.waiting({ model, limit: 100 });
    await claim('a');
    await storage.entries.update({ updates: [{ id: changed, text: 'changed' }], allOrNothing: true });
    await storage.entries.remove({ ids: [removed], dryRun: false });
    const put = before.filter(({ owner }) => owner === embedded || owner === changed);
    const windows = [{ start: 0, end: 1, vector: new Float32Array([1, 0]) }];
    const taken = put.map(({ owner, textHash }) => ({ owner, textHash, windows }));
    assert.equal(await context.put({ model, texts: taken }), 1, 'not the vectors of the old text');
    assert.deepEqual(await held('a'), texts.slice(3));
    assert.deepEqual(await claimed('b'), [changed]);
    // What does not touch the text leaves the claim.
    await storage.entries.update({ updates: [{ id: texts[4] ?? 0, tags: ['new'] }], allOrNothing: true });
    assert.deepEqual(await held('a'), texts.slice(3));
  });

  test('passages are claimed as entries are, and each model has claims of its own', async () => {
    const { kb } = storage.vectors;
    await kb.choose('one');
    await kb.choose('two');
    const passage = (id: string, position: number) => ({
      ...{ id, position, title: 'Title', headings: [], body: `body of ${id}`, labels: [] },
    });
    await storage.passages.replace([{ parent: 'doc', passages: [passage('p0', 0), passage('p1', 1)] }]);
    const { owners } = await kb.claim({ model: 'one', claimant: 'a', leaseMs, limit: 10 });
    assert.equal(owners.length, 2);
    assert.deepEqual((await kb.claim({ model: 'two', claimant: 'b', leaseMs, limit: 10 })).owners, owners);
    await storage.passages.replace([{ parent: 'doc', passages: [passage('p0', 0)] }]);
    const after = await kb.claim({ model: 'one', claimant: 'b', leaseMs, limit: 10 });
    assert.deepEqual([after.owners.length, after.others], [1, []]);
  });
});

function entry(place: number): NewEntry {
  return {
    ...{ threadId: 'claims', source: 'user', text: `text ${place}`, metadata: undefined, tags: [] },
    ...{ images: [], summary: undefined },
  };
}
