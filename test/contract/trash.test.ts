import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';

/** The console's trash: deleted items that can be restored or deleted for good. */
onEachBackend('trash', (backend) => {
  let storage: Storage;
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const page = { limit: 10, offset: 0 };
  const mine = { anyTags: ['collection:mine'] };
  const month = 31 * 86_400_000;

  before(async () => {
    storage = await backend.open({ now: () => new Date(time) });
  });

  async function addDocument(title: string, tag: string, docType = 'note'): Promise<number> {
    const hash = createHash('sha256').update(title).digest('hex');
    await storage.ingestion.accept({
      ...{ filename: `${title}.txt`, title, docType, sourcePath: undefined, contentType: 'text/plain' },
      ...{ tags: [tag], content: { note: title, hash, bytes: title.length } },
    });
    const job = await storage.ingestion.claim({ owner: 'a', leaseMs: 10_000 });
    const done = await storage.ingestion.finish({
      ...{ id: job?.id ?? 0, owner: 'a', title, docType, contentType: 'text/plain', language: undefined, details: {} },
      chunks: [{ text: title, headings: [], metadata: {} }],
    });
    assert.ok(done.outcome === 'done');
    return done.documentId;
  }

  test('deleted documents are listed, within the caller’s tags, until they are purged or too old', async () => {
    const { documents, ingestion } = storage;
    const ids = [await addDocument('one', 'collection:mine'), await addDocument('two', 'collection:theirs')];
    for (const id of ids) {
      time += 1000;
      await documents.remove({ id, restorable: true });
    }
    const all = await documents.deleted(page);
    assert.deepEqual([all.documents.map(({ title }) => title), all.total], [['two', 'one'], 2]);
    const [own] = (await documents.deleted({ ...page, ...mine })).documents;
    assert.deepEqual([own?.id, own?.docType, own?.bytes, own?.tags], [ids[0], 'note', 3, ['collection:mine']]);
    assert.deepEqual(await documents.purgeDeleted({ ids, ...mine }), [
      createHash('sha256').update('one').digest('hex'),
    ]);
    assert.equal((await documents.restore({ id: ids[0] ?? 0 })).outcome, 'not_found');
    assert.equal((await documents.deleted(page)).total, 1);
    time += month;
    assert.equal((await documents.deleted(page)).total, 0);

    assert.equal(await ingestion.clear(mine), 1);
    assert.equal(await ingestion.clear({}), 1);
    const left = await ingestion.list(page);
    assert.deepEqual(new Set(left.jobs.map(({ kind }) => kind)), new Set(['delete']), 'the record of changes stays');
  });

  test('documents can be sorted, and their types counted', async () => {
    for (const [title, type] of [
      ['b', 'pdf'],
      ['C', 'pdf'],
      ['a', 'note'],
    ] as const) {
      time += 1000;
      await addDocument(title, 'collection:sorted', type);
    }
    const selection = { tags: ['collection:sorted'] };
    const titles = async (by: 'title' | 'type' | 'added', descending: boolean) =>
      (await storage.documents.list({ selection, sort: { by, descending }, ...page })).documents.map(
        ({ title }) => title,
      );
    assert.deepEqual(await titles('title', false), ['a', 'b', 'C']);
    assert.deepEqual(await titles('type', true), ['C', 'b', 'a']);
    assert.deepEqual(await titles('added', false), ['b', 'C', 'a']);
    const types = [...(await storage.documents.types({ anyTags: selection.tags }))];
    assert.deepEqual(types, [
      { type: 'pdf', count: 2 },
      { type: 'note', count: 1 },
    ]);
  });

  test('deleted notes are listed until they are purged; others stay', async () => {
    const { notes } = storage;
    const [gone, kept] = await Promise.all(
      ['gone', 'kept'].map((title) => notes.save({ title, content: 'text', tags: ['t'], sourceUrls: [] })),
    );
    const ids = [gone?.id ?? '', kept?.id ?? ''];
    const { deletedAt } = await notes.remove({ id: ids[0] ?? '' });
    const { notes: listed, total } = await notes.deleted(page);
    assert.deepEqual(
      [listed.map(({ id, title, deletedAt: at }) => [id, title, at]), total],
      [[[ids[0], 'gone', deletedAt]], 1],
    );
    assert.equal(await notes.purge({ ids }), 1);
    await assert.rejects(notes.restore({ id: ids[0] ?? '' }), { code: 'note_not_found' });
    assert.ok(await notes.get(ids[1] ?? ''));
    assert.deepEqual(await storage.check(), []);
  });

  test('deleted memories are listed, within the caller’s threads, until they are purged', async () => {
    const { entries } = storage;
    const fresh = (threadId: string) => ({
      ...{ threadId, source: 'user' as const, text: `In ${threadId} ${'x'.repeat(400)}`, tags: ['t'], images: [] },
      ...{ metadata: { k: 1 }, summary: undefined, needsSummary: false },
    });
    const stored = await entries.store({ entries: [fresh('mine'), fresh('theirs'), fresh('kept')] });
    const ids = stored.map(({ id }) => id);
    await entries.remove({ ids: ids.slice(0, 2), dryRun: false });
    const own = await entries.deleted({ ...page, visibleThreads: ['mine'] });
    assert.deepEqual([own.entries.map(({ id, text }) => [id, text.length]), own.total], [[[ids[0], 300]], 1]);
    assert.equal(await entries.purge({ ids, visibleThreads: ['mine'] }), 1);
    assert.deepEqual(await entries.restore({ ids }), { ids: [ids[1]] });
    assert.equal((await entries.deleted(page)).total, 0);
    assert.deepEqual(await storage.check(), []);
  });
});
