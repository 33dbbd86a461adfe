import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, beforeEach, test } from 'node:test';
import type { IngestionStore } from '../../src/storage/documents/document-stores.ts';
import type { ClaimedJob } from '../../src/storage/documents/job-queue.ts';
import type { FinishRequest } from '../../src/storage/documents/write-documents.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';
import { until } from '../support/pause.ts';

const leaseMs = 60_000;

onEachBackend('the ingestion queue', (backend) => {
  let storage: Storage;
  let queue: IngestionStore;
  let count = 0;
  before(async () => {
    storage = await backend.open();
    queue = storage.ingestion;
  });
  beforeEach(async () => {
    const { jobs } = await queue.list({ limit: 1000, offset: 0 });
    for (const { id } of jobs) await queue.cancel({ id });
  });

  async function submit(length = 0, submitter?: string): Promise<number> {
    count += 1;
    const note = `note ${count}`.padEnd(length);
    const hash = createHash('sha256').update(note).digest('hex');
    const accepted = await queue.accept({
      filename: `${count}.md`,
      title: undefined,
      docType: undefined,
      sourcePath: undefined,
      contentType: 'text/plain',
      tags: [],
      submitter,
      content: { note, hash, bytes: note.length },
    });
    assert.ok(accepted.outcome === 'accepted');
    return accepted.job.id;
  }

  const claim = (owner: string, lease = leaseMs): Promise<ClaimedJob | undefined> =>
    queue.claim({ owner, leaseMs: lease });
  const statusOf = async (id: number) => (await queue.get({ id }))?.status;

  function finish(id: number, owner: string): FinishRequest {
    return {
      id,
      owner,
      title: 'title',
      docType: 'note',
      contentType: 'text/plain',
      language: undefined,
      details: {},
      chunks: [{ text: `text of ${id}`, headings: [], metadata: {} }],
    };
  }

  test('claims only small, untried jobs as quick jobs', async () => {
    const [tried, large, small] = [await submit(), await submit(1000), await submit()];
    const quick = () => queue.claim({ owner: 'b', leaseMs, quickBytesMax: 100 });
    assert.equal((await claim('a'))?.id, tried);
    await queue.postpone({ id: tried, owner: 'a', delayMs: 0, message: 'it takes long' });
    assert.equal((await quick())?.id, small);
    assert.equal(await quick(), undefined);
    assert.equal((await claim('a'))?.id, tried);
    assert.equal((await claim('a'))?.id, large);
  });

  test('claims jobs in order, each once', async () => {
    const ids = [await submit(), await submit(), await submit()];
    const claimed = [await claim('a'), await claim('b'), await claim('a'), await claim('b')];
    assert.deepEqual(
      claimed.map((job) => job?.id),
      [...ids, undefined],
    );
  });

  test('submitters take turns, so that many files of one do not hold up the others', async () => {
    const [first, second, third] = [await submit(0, 'busy'), await submit(0, 'busy'), await submit(0, 'busy')];
    const other = await submit(0, 'other');
    const ids: (number | undefined)[] = [];
    for (let lastSubmitter = ''; ids.length < 4; ) {
      const job = await queue.claim({ owner: 'a', leaseMs, lastSubmitter });
      lastSubmitter = job?.submitter ?? '';
      ids.push(job?.id);
    }
    assert.deepEqual(ids, [first, other, second, third]);
  });

  test('concurrent claims never return the same job twice', async () => {
    const ids: number[] = [];
    for (let index = 0; index < 20; index += 1) ids.push(await submit());
    const claimed = await Promise.all(Array.from({ length: 30 }, (_, index) => claim(`owner ${index}`)));
    const got = claimed.flatMap((job) => (job === undefined ? [] : [job.id]));
    assert.equal(new Set(got).size, got.length);
    // A claim may find nothing while another is taking the same job; it is repeated.
    for (let job = await claim('last'); job !== undefined; job = await claim('last')) got.push(job.id);
    assert.deepEqual(
      got.sort((a, b) => a - b),
      ids,
    );
  });

  test('an expired lease passes to the next process, and the old one cannot change the job', async () => {
    const id = await submit();
    assert.equal((await claim('slow', 1))?.id, id);
    const before = await storage.documents.counts({});
    const taken = await until(() => claim('next'));
    assert.deepEqual([taken.id, taken.crashes], [id, 1]);
    assert.equal(await queue.renew({ id, owner: 'slow', leaseMs, progress: { phase: 'indexing' } }), false);
    assert.deepEqual(await queue.finish(finish(id, 'slow')), { outcome: 'lost' });
    assert.equal(await queue.fail({ id, owner: 'slow', code: 'internal', message: 'x' }), false);
    assert.equal(await queue.postpone({ id, owner: 'slow', delayMs: 0, message: 'x' }), false);
    assert.equal((await storage.documents.counts({})).documents, before.documents);
    assert.equal((await queue.finish(finish(id, 'next'))).outcome, 'done');
    assert.equal((await storage.documents.counts({})).documents, before.documents + 1);
    assert.deepEqual(await queue.finish(finish(id, 'next')), { outcome: 'lost' }, 'a second end is refused');
  });

  test('retries jobs of dead processes after jobs that never crashed', async () => {
    const [first, second] = [await submit(), await submit()];
    await claim('dead');
    assert.deepEqual(await queue.owners(), ['dead']);
    assert.equal(await queue.giveBack({ owners: ['dead', 'unknown'], crashed: true }), 1);
    assert.equal((await claim('alive'))?.id, second);
    const again = await claim('alive');
    assert.deepEqual([again?.id, again?.crashes], [first, 1]);
  });

  test('a returned job counts as not started', async () => {
    const id = await submit();
    await claim('stopping');
    await queue.giveBack({ owners: ['stopping'], crashed: false });
    const again = await claim('next');
    assert.deepEqual([again?.id, again?.crashes], [id, 0]);
    assert.equal((await queue.get({ id }))?.attempts, 1);
  });

  test('postpones a job that crashed many processes', async () => {
    const id = await submit();
    for (let crash = 0; crash < 6; crash += 1) {
      assert.equal((await claim('dying'))?.id, id);
      await queue.giveBack({ owners: ['dying'], crashed: true });
    }
    assert.equal(await claim('careful'), undefined);
    assert.equal(await statusOf(id), 'queued');
  });

  test('a postponed job is not claimed early, and keeps the reason', async () => {
    const id = await submit();
    await claim('a');
    await queue.postpone({ id, owner: 'a', delayMs: 60_000, message: 'The disk is full.' });
    assert.equal(await claim('a'), undefined);
    const job = await queue.get({ id });
    assert.deepEqual([job?.status, job?.error], ['queued', 'The disk is full.']);
  });

  test('other processes see progress until the job ends', async () => {
    const id = await submit();
    await claim('a');
    await queue.renew({ id, owner: 'a', leaseMs, progress: { phase: 'embedding', done: 3, total: 9 } });
    assert.deepEqual((await queue.get({ id }))?.progress, { phase: 'embedding', done: 3, total: 9 });
    await queue.finish(finish(id, 'a'));
    const job = await queue.get({ id });
    assert.deepEqual([job?.status, job?.chunkCount, job?.error], ['done', 1, undefined]);
  });

  test('contract §6: a job can be cancelled while queued or running; a finished one stays as it is', async () => {
    const waiting = await submit();
    assert.equal((await queue.cancel({ id: waiting }))?.status, 'cancelled');
    assert.equal(await claim('a'), undefined);
    const running = await submit();
    await claim('a');
    assert.equal((await queue.cancel({ id: running }))?.status, 'cancelled');
    assert.equal(await queue.renew({ id: running, owner: 'a', leaseMs, progress: undefined }), false);
    assert.deepEqual(await queue.finish(finish(running, 'a')), { outcome: 'lost' });
    const ended = await submit();
    await claim('a');
    await queue.finish(finish(ended, 'a'));
    assert.equal((await queue.cancel({ id: ended }))?.status, 'done');
    assert.equal(await queue.cancel({ id: 999_999 }), undefined);
  });

  test('a failed job reports why and how far it got, and its content may be submitted again', async () => {
    const id = await submit();
    await claim('a');
    const progress = { phase: 'extracting' } as const;
    await queue.fail({ id, owner: 'a', code: 'encrypted_document', message: 'It has a password.', progress });
    const job = await queue.get({ id });
    assert.deepEqual([job?.status, job?.errorCode, job?.error], ['failed', 'encrypted_document', 'It has a password.']);
    assert.equal(job?.progress.phase, 'extracting');
    count -= 1;
    assert.ok((await submit()) > id);
  });

  test('removes old and surplus ended jobs, but never queued ones', async () => {
    const list = async () => (await queue.list({ limit: 1000, offset: 0 })).jobs.map(({ id }) => id);
    const future = '2999-01-01T00:00:00.000Z';
    const past = '2000-01-01T00:00:00.000Z';
    const everything = { keptMax: 1000, limit: 1000 };
    await queue.forget({ ...everything, before: future });
    assert.deepEqual(await list(), []);

    const ended = [await submit(), await submit(), await submit(), await submit()];
    for (const id of ended) await queue.cancel({ id });
    const waiting = await submit();
    const running = await claim('a');
    const alsoWaiting = await submit();
    assert.equal(running?.id, waiting);
    assert.equal(await queue.forget({ ...everything, before: past }), 0);

    assert.equal(await queue.forget({ before: past, keptMax: 3, limit: 1000 }), 1);
    assert.deepEqual(await list(), [alsoWaiting, waiting, ...ended.slice(1).reverse()]);
    assert.equal(await queue.forget({ before: future, keptMax: 3, limit: 2 }), 2);
    assert.equal(await queue.forget({ before: future, keptMax: 3, limit: 2 }), 1);
    assert.deepEqual(await list(), [alsoWaiting, waiting]);
    assert.ok((await submit()) > alsoWaiting, 'an id is never given twice');
  });

  test('jobs are listed newest first, by status, in pages', async () => {
    const ids = [await submit(), await submit(), await submit()];
    const first = await queue.list({ status: 'queued', limit: 2, offset: 0 });
    const rest = await queue.list({ status: 'queued', limit: 2, offset: 2 });
    assert.deepEqual([...first.jobs, ...rest.jobs].map(({ id }) => id).reverse(), ids);
    assert.equal(first.total, 3);
    assert.equal((await queue.counts({})).queued, 3);
  });
});
