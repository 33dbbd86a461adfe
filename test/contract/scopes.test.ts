import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import type { AcceptOutcome } from '../../src/storage/documents/accept-job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';

/** Contract §8, §9: what callers with restricted tokens may see. test/security/scopes tests the whole product. */
onEachBackend('reads and writes within tags and threads', (backend) => {
  let storage: Storage;
  const mine = { anyTags: ['collection:mine'] };
  const accept = (text: string, tag: string, within: { anyTags?: readonly string[] } = {}): Promise<AcceptOutcome> =>
    storage.ingestion.accept({
      ...{ filename: 'n.txt', title: text, docType: 'note', sourcePath: undefined, contentType: 'text/plain' },
      tags: [tag],
      content: { note: text, hash: createHash('sha256').update(text).digest('hex'), bytes: text.length },
      ...within,
    });
  const finish = async (): Promise<number> => {
    const job = await storage.ingestion.claim({ owner: 'a', leaseMs: 10_000 });
    assert.ok(job);
    const { title = '', docType = '', contentType } = job;
    const done = await storage.ingestion.finish({
      ...{ id: job.id, owner: 'a', title, docType, contentType, language: undefined, details: {} },
      chunks: [{ text: title, headings: [], metadata: {} }],
    });
    assert.ok(done.outcome === 'done');
    return done.documentId;
  };
  const finishAll = async (): Promise<void> => {
    while ((await storage.ingestion.counts({})).queued > 0) await finish();
  };

  before(async () => {
    storage = await backend.open();
  });

  test('ingests the same content once for each caller without shared access', async () => {
    await accept('same', 'collection:theirs');
    const theirs = await finish();
    const own = await accept('same', 'collection:mine', mine);
    assert.equal(own.outcome, 'accepted');
    assert.equal((await accept('same', 'collection:mine', mine)).outcome, 'known_job');
    const id = await finish();
    assert.deepEqual(await accept('same', 'collection:mine', mine), { outcome: 'known_document', id, title: 'same' });
    const [first, second] = [await storage.documents.get({ id: theirs }), await storage.documents.get({ id })];
    assert.equal(first?.contentHash, second?.contentHash);
    assert.equal((await accept('same', 'collection:third')).outcome, 'known_document');
    const edit = {
      text: 'same',
      contentHash: second?.contentHash ?? '',
      bytes: 4,
      derivedTitle: 'd',
      derivedFilename: 'd',
    };
    await accept('other', 'collection:mine', mine);
    const other = await finish();
    const edited = await storage.documents.editNote({ ...edit, id: other, chunks: [], anyTags: ['collection:none'] });
    assert.equal(edited.outcome, 'edited');
    assert.equal((await storage.documents.editNote({ ...edit, id, chunks: [], ...mine })).outcome, 'duplicate');
  });

  test('counts documents, tags, jobs, pending vectors and bulk changes in scope only', async () => {
    const { documents, ingestion } = storage;
    const { documents: count, collections } = await documents.counts(mine);
    assert.deepEqual([count, collections], [2, 1]);
    assert.deepEqual(await documents.tags(mine), [{ tag: 'collection:mine', count: 2 }]);
    assert.equal((await documents.list({ selection: mine, limit: 10, offset: 0 })).total, 2);
    const jobs = await ingestion.list({ limit: 10, offset: 0, status: 'done', anyTags: ['collection:theirs'] });
    assert.equal(jobs.total, 1);
    assert.equal((await ingestion.counts({ anyTags: ['collection:theirs'] })).done, 1);
    assert.deepEqual(await documents.pending({ anyTags: mine.anyTags, model: 'none' }), []);
    const bulk = { percentMax: 100, tagsMax: 10, restorable: true };
    const selection = { docType: 'note', anyTags: ['collection:theirs'] };
    const changed = await documents.changeMany({ ...bulk, selection, action: { kind: 'delete' } });
    assert.ok(changed.outcome === 'changed');
    assert.deepEqual([changed.matched, changed.total], [1, 1]);
    assert.equal((await documents.counts(mine)).documents, 2);
    const [deleted] = (await ingestion.list({ limit: 1, offset: 0, anyTags: ['collection:theirs'] })).jobs;
    assert.equal(deleted?.kind, 'bulk_delete');
    assert.equal((await documents.restore({ id: 1, ...mine })).outcome, 'not_found');
    assert.equal((await documents.restore({ id: 1, anyTags: ['collection:theirs'] })).outcome, 'accepted');
  });

  test('accepts the same content from two such callers at once', async () => {
    await finishAll();
    const ids = [];
    for (const tag of ['collection:here', 'collection:there']) {
      assert.equal((await accept('at once', tag, { anyTags: [tag] })).outcome, 'accepted');
    }
    while ((await storage.ingestion.counts({})).queued > 0) ids.push(await finish());
    assert.equal(new Set(ids).size, 2);
  });

  test("a note with the content of another caller's job does not block it", async () => {
    const [left, right] = [{ anyTags: ['collection:left'] }, { anyTags: ['collection:right'] }];
    await finishAll();
    await accept('a note', 'collection:right', right);
    const id = await finish();
    await accept('wanted by both', 'collection:left', left);
    const contentHash = createHash('sha256').update('wanted by both').digest('hex');
    const given = { id, text: 'wanted by both', contentHash, bytes: 14, derivedTitle: 'd', derivedFilename: 'd' };
    assert.equal((await storage.documents.editNote({ ...given, chunks: [], ...right })).outcome, 'edited');
    assert.notEqual(await finish(), id);
    assert.equal((await storage.documents.counts(left)).documents, 1);
  });

  test('entries of other threads are not found, listed, counted, changed or removed', async () => {
    const { entries } = storage;
    const image = { data: Buffer.from('x'), mimeType: 'image/png', metadata: undefined };
    const entry = (threadId: string) => ({
      ...{ threadId, source: 'user' as const, text: `of ${threadId}`, metadata: undefined, tags: [threadId] },
      ...{ images: [image], summary: undefined },
    });
    const [own, other] = await entries.store({ entries: [entry('a'), entry('b')] });
    const ids = [own?.id ?? 0, other?.id ?? 0];
    const scope = { visibleThreads: ['a'] };
    const found = await entries.get({ ids, images: false, ...scope });
    assert.deepEqual(
      found.map(({ threadId }) => threadId),
      ['a'],
    );
    const loaded = await entries.load({ ids, images: false, order: 'requested', bytesMax: 1_000_000, ...scope });
    assert.deepEqual([loaded.entries.length, loaded.remainingIds.length], [1, 0]);
    assert.equal(await entries.image({ id: ids[1] ?? 0, position: 0, ...scope }), undefined);
    assert.deepEqual(await entries.tags(scope), [{ tag: 'a', count: 1 }]);
    assert.equal((await entries.threads({ limit: 10, offset: 0, ...scope })).total, 1);
    const { total, images, uniqueTags, threads, indexed } = await entries.statistics({ model: 'none', ...scope });
    assert.deepEqual([total, images, uniqueTags, threads, indexed], [1, 1, 1, 1, 1]);
    const updates = ids.map((id) => ({ id, tags: ['changed'] }));
    const updated = await entries.update({ updates, allOrNothing: false, ...scope });
    assert.deepEqual(
      updated.map(({ found }) => found),
      [true, false],
    );
    const removal = { threadIds: ['a', 'b'], dryRun: false, ...scope };
    assert.deepEqual(await entries.remove(removal), { count: 1, ids: [ids[0]], missingThreads: ['b'] });
    await entries.remove({ ids, dryRun: false });
    assert.deepEqual(await entries.restore({ ids, ...scope }), { ids: [ids[0]] });
    assert.deepEqual(await entries.matching(scope), [ids[0]]);
  });
});
