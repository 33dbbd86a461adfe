import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';
import { passageWriter } from '../support/passages.ts';

const model = 'claims';
const leaseMs = 600_000;
/** A lease that is expired from the start. */
const expired = -1;

onEachBackend('claims on texts that wait for vectors', (backend) => {
  let storage: Storage;
  /** Owners of ten unclaimed texts, newest first. */
  let texts: number[] = [];
  before(async () => {
    storage = await backend.open();
  });
  beforeEach(async () => {
    const { context } = storage.vectors;
    await context.drop(model);
    const known = await storage.entries.list({ filter: {}, limit: 100, offset: 0, images: false, explain: false });
    await storage.entries.remove({ ids: known.entries.map(({ id }) => id), dryRun: false });
    const stored = await storage.entries.store({ entries: Array.from({ length: 10 }, (_, index) => entry(index)) });
    texts = stored.map(({ id }) => id).reverse();
    await context.choose({ model });
  });

  const claim = async (
    claimant: string,
    more: { limit?: number; owners?: readonly number[]; leaseMs?: number } = {},
  ) => {
    const claimed = await storage.vectors.context.claim({ model, claimant, leaseMs, limit: 10, ...more });
    return { owners: claimed.texts.map(({ owner }) => owner).reverse(), leasedElsewhere: claimed.leasedElsewhere };
  };
  const claimed = async (...given: Parameters<typeof claim>) => (await claim(...given)).owners;

  test('the newest texts go to the first claimant, the next to the second, and the third gets none', async () => {
    assert.deepEqual(await claim('a', { limit: 4 }), { owners: texts.slice(0, 4), leasedElsewhere: [] });
    assert.deepEqual(await claim('b', { limit: 8 }), { owners: texts.slice(4), leasedElsewhere: texts.slice(0, 4) });
    assert.deepEqual(await claim('c', { limit: 5 }), { owners: [], leasedElsewhere: texts.slice(0, 5) });
    // All of them are pending, claimed or not.
    assert.equal((await storage.vectors.context.state({ model })).pending, 10);
    assert.deepEqual(
      await storage.vectors.context.claim({ model: 'never chosen', claimant: 'a', leaseMs, limit: 10 }),
      { texts: [], leasedElsewhere: [] },
    );
  });

  test('twenty concurrent claimants get every text, each once', async () => {
    const holders = new Map<number, string>();
    const ask = async (claimant: string) => {
      for (const owner of await claimed(claimant, { limit: 1 })) {
        assert.equal(holders.get(owner) ?? claimant, claimant, 'a text was given to two');
        holders.set(owner, claimant);
      }
    };
    // A claim that meets another's transaction may return nothing and is repeated, as processes do.
    while (holders.size < 10) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`claimant ${index}`)));
    }
  });

  test('older texts can be claimed by id; a claimant gets its own again', async () => {
    const [third = 0, last = 0] = [texts[2], texts[9]];
    assert.deepEqual(await claimed('a', { owners: [last, third, 999_999] }), [third, last]);
    assert.deepEqual(await claimed('a', { owners: [last, third] }), [third, last]);
    assert.deepEqual(await claim('b', { owners: [last, texts[0] ?? 0] }), {
      owners: [texts[0]],
      leasedElsewhere: [last],
    });
  });

  test('an expired or released claim goes to the next claimant', async () => {
    await claim('a', { limit: 2, leaseMs: expired });
    assert.deepEqual(await claimed('b', { limit: 4 }), texts.slice(0, 4));
    await claim('c', { limit: 3 });
    await storage.vectors.context.release({ model, claimant: 'b' });
    assert.deepEqual(await claimed('d'), [...texts.slice(0, 4), ...texts.slice(7)]);
  });

  test('a changed text is pending again, unclaimed; a deleted or embedded one is not', async () => {
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
    // An update of other fields keeps the claim.
    await storage.entries.update({ updates: [{ id: texts[4] ?? 0, tags: ['new'] }], allOrNothing: true });
    assert.deepEqual(await claim('b'), { owners: [changed], leasedElsewhere: texts.slice(3) });
  });

  test('passages are claimed like entries, separately for each model', async () => {
    const { kb } = storage.vectors;
    await kb.choose({ model: 'one' });
    await kb.choose({ model: 'two' });
    const passages = passageWriter(storage);
    const passage = (id: string) => ({ id, title: 'Title', headings: [], body: `body of ${id}`, labels: [] });
    await passages.replace([{ parent: 'doc', passages: [passage('p0'), passage('p1')] }]);
    const { texts: first } = await kb.claim({ model: 'one', claimant: 'a', leaseMs, limit: 10 });
    assert.equal(first.length, 2);
    assert.deepEqual((await kb.claim({ model: 'two', claimant: 'b', leaseMs, limit: 10 })).texts, first);
    assert.deepEqual((await kb.claim({ model: 'one', claimant: 'b', leaseMs, limit: 10 })).texts, []);
  });
});

function entry(index: number): NewEntry {
  return {
    ...{ threadId: 'claims', source: 'user', text: `text ${index}`, metadata: undefined, tags: [] },
    ...{ images: [], summary: undefined },
  };
}
