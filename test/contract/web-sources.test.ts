import assert from 'node:assert/strict';
import { before, beforeEach, it } from 'node:test';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';

const settings = { follows: true, depth: 3, pages: 4, include: [], exclude: [], refreshHours: 24 };
const progress = { state: { cursor: 0 }, done: 0, total: 0 };
const leaseMs = 60_000;

onEachBackend('web sources', (backend) => {
  const url = 'https://docs.example.org/';
  const tags = ['collection:docs', 'version:2.4'];

  let storage: Storage;
  before(async () => {
    storage = await backend.open();
  });
  beforeEach(async () => {
    for (const { id } of await storage.web.list({})) await storage.web.remove({ id });
  });

  async function claimed(owner = 'first') {
    const { source, job } = await storage.web.add({ url, tags, settings, jitter: 0 });
    const run = await storage.web.claim({ owner, leaseMs });
    assert.equal(run?.id, job);
    return { source: source.id, job, run: { id: job, owner } };
  }

  it('keep one source for an address and collection, and one run at a time', async () => {
    const first = await storage.web.add({ url, tags, settings, jitter: 0 });
    const again = await storage.web.add({ url, tags, settings: { ...settings, depth: 5 }, jitter: 0 });
    assert.deepEqual([again.isNew, again.source.id, again.job], [false, first.source.id, first.job]);
    const other = await storage.web.add({ url, tags: ['collection:other'], settings, jitter: 0 });
    assert.notEqual(other.source.id, first.source.id);
    assert.equal(await storage.web.start({ id: first.source.id }), first.job);
    const [listed] = await storage.web.list({ anyTags: ['collection:docs'] });
    assert.deepEqual([listed?.settings.depth, listed?.isActive, listed?.pages], [5, true, 0]);
    assert.equal((await storage.ingestion.get({ id: first.job }))?.kind, 'crawl');
    // Ingestion does not claim crawl runs.
    assert.equal(await storage.ingestion.claim({ owner: 'engine', leaseMs }), undefined);
  });

  it('start each due run once, in any process, and never a paused one', async () => {
    const { source } = await storage.web.add({
      url,
      tags,
      settings: { ...settings, refreshHours: 0 },
      jitter: 0,
    });
    const run = await storage.web.claim({ owner: 'first', leaseMs });
    await storage.web.end({ id: run?.id ?? 0, owner: 'first', progress });
    assert.equal(await storage.web.startDue({ jitter: 1 }), 1);
    assert.equal(await storage.web.startDue({ jitter: 1 }), 1, 'it is due again, but has a run');
    const queued = await storage.ingestion.list({ limit: 10, offset: 0, status: 'queued' });
    assert.equal(queued.total, 1);
    await storage.web.pause({ id: source.id, paused: true });
    assert.equal((await storage.ingestion.list({ limit: 10, offset: 0, status: 'queued' })).total, 0);
    assert.equal(await storage.web.startDue({ jitter: 0 }), 0);
    assert.equal(await storage.web.pause({ id: 99, paused: true }), false);
  });

  it('save pages and links only for the owner of the run, up to the limit', async () => {
    const { source, job, run } = await claimed();
    const page = {
      url,
      depth: 0,
      state: 'stored',
      document: 7,
      textHash: 'a'.repeat(64),
      sketch: 'x',
      failures: 0,
    } as const;
    const links = {
      urls: ['a', 'b', 'a2', 'c', 'd'].map((path) => `${url}${path}`),
      depth: 1,
      pagesMax: settings.pages,
    };
    const saved = { ...run, source, pages: [page], links, progress: { ...progress, done: 1 } };
    assert.equal(await storage.web.save({ ...saved, owner: 'another' }), undefined);
    assert.deepEqual(await storage.web.pages({ source, after: 0, limit: 10 }), []);
    assert.deepEqual(await storage.web.save(saved), { added: 3, dropped: 2 });
    const [root, ...found] = await storage.web.pages({ source, after: 0, limit: 10 });
    assert.deepEqual([root?.run, root?.document, root?.state], [job, 7, 'stored']);
    assert.deepEqual(
      found.map(({ url: each, depth, state }) => [each.slice(url.length), depth, state]),
      [
        ['a', 1, 'new'],
        ['b', 1, 'new'],
        ['a2', 1, 'new'],
      ],
    );
    const [overview] = await storage.web.overview({ source });
    assert.deepEqual(overview, { url, state: 'stored', textHash: page.textHash, sketch: 'x' });
    const retried = { ...page, url: `${url}a`, depth: 1, state: 'failed' as const, retryMs: 3_600_000 };
    await storage.web.save({ ...run, source, pages: [retried], removed: [found[1]?.key ?? 0], progress });
    const [waiting] = await storage.web.retried({ source, run: job });
    assert.ok(waiting?.page.url === `${url}a` && waiting.waitMs > 3_000_000);
    assert.equal((await storage.web.byUrl({ source, urls: [`${url}a`, `${url}b`] })).length, 1);
    assert.equal((await storage.ingestion.get({ id: job }))?.progress.phase, 'crawling');
    await storage.web.end({ ...run, progress: { ...progress, state: { summary: { new: 3 } } } });
    const [listed] = await storage.web.list({});
    assert.deepEqual([listed?.lastRun?.['new'], listed?.lastRun?.['job_id'], listed?.documents], [3, job, 1]);
    assert.deepEqual(await storage.web.remove({ id: source }), { url, documents: [7] });
    assert.deepEqual(await storage.web.list({}), []);
  });

  it('pass a run and its state on when its owner has died', async () => {
    const { source, run } = await claimed();
    const kept = { ...progress, state: { source, cursor: 5 } };
    assert.equal(await storage.web.renew({ ...run, leaseMs: -1, progress: kept }), true);
    const next = await storage.web.claim({ owner: 'second', leaseMs });
    assert.deepEqual([next?.id, next?.state['cursor']], [run.id, 5]);
    assert.equal(await storage.web.renew({ ...run, leaseMs, progress }), false);
    assert.equal(await storage.web.end({ ...run, progress }), false);
  });

  it('lease a host to one process', async () => {
    const host = 'docs.example.org:443';
    const first = { host, owner: 'first', leaseMs };
    assert.deepEqual(await storage.web.leaseHost(first), { robots: undefined, waitMs: 0 });
    assert.deepEqual(await storage.web.leaseHost({ ...first, owner: 'second' }), { leasedBy: 'first' });
    assert.equal(await storage.web.renewHost({ ...first, robots: { text: 'User-agent: *', ttlMs: 60_000 } }), true);
    await storage.web.releaseHost({ host, owner: 'first', waitMs: 60_000 });
    const second = await storage.web.leaseHost({ ...first, owner: 'second' });
    assert.ok('robots' in second && second.robots === 'User-agent: *' && second.waitMs > 50_000);
    assert.equal(await storage.web.renewHost(first), false);
    assert.ok(
      'robots' in (await storage.web.leaseHost({ ...first, deadOwner: 'second' })),
      'a dead holder loses it at once',
    );
  });
});
