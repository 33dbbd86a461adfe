import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { crawlSlice } from '../../src/crawl/crawl-slice.ts';
import { createCrawler } from '../../src/crawl/crawler.ts';
import { createWebSources, type SourceRequest } from '../../src/crawl/web-sources.ts';
import { createExtractor } from '../../src/documents/extractor.ts';
import { engineSlice } from '../../src/engine/engine-slice.ts';
import { createEngine } from '../../src/engine/local/create-engine.ts';
import { waitForJob } from '../../src/engine/wait-for-job.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import { createSafeFetch, type SafeFetch } from '../../src/web/safe-fetch.ts';
import { parseTargetList } from '../../src/web/target-list.ts';
import type { Owner } from '../fakes/loopback-server.ts';
import { startTrapSite } from '../fakes/trap-site.ts';
import { onEachBackend } from '../support/backends.ts';
import { makeFolder } from '../support/child-program.ts';
import { size } from '../support/sizes.ts';

const pages = size({ quick: 8, full: 500 });
const links = size({ quick: 5_000, full: 100_000 });
const never = new AbortController().signal;
const tags = ['collection:docs'];

function defaultsOf<Values>(fields: Readonly<Record<string, { default: unknown }>>, changed: object): Values {
  const defaults = Object.fromEntries(Object.entries(fields).map(([name, { default: value }]) => [name, value]));
  return { ...defaults, ...changed } as Values;
}

/** Shared by all processes, because each worker that it starts takes half a second of CPU time. */
const extractor = createExtractor({ cpuMsMax: 5_000, memoryMb: 256, workersMax: 2 });
after(() => extractor.close());

/** One process: an engine, a crawler and its sources. */
async function startProcess(location: StorageLocation, limits: object = {}) {
  const storage = await openStorage(location, {});
  const engine = createEngine(defaultsOf(engineSlice.fields, {}), {
    ...{ storage, extractor, embeddings: undefined, log: silentLogger },
  });
  const allowed = parseTargetList(['127.0.0.1']);
  const crawling = defaultsOf<Parameters<typeof createCrawler>[0]>(crawlSlice.fields, {
    ownHosts: ['127.0.0.1'],
    ...limits,
  });
  const safeFetch = createSafeFetch({ userAgent: crawling.userAgent, allowPrivate: allowed, bytesMax: 4_000_000 });
  // `/docs/slow` never answers, so a short timeout is enough for it.
  const fetch: SafeFetch = (url, request) =>
    safeFetch(url, url.endsWith('/docs/slow') ? { ...request, timeoutMs: 100 } : request);
  const crawler = createCrawler(crawling, { storage, engine, extractor, fetch, log: silentLogger });
  const sources = createWebSources({ storage, engine, onStarted: crawler.wake });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await crawler.close();
    await engine.close();
    await storage.close();
  };
  after(close);

  async function ended(job: number) {
    const { status, error, details } = await waitForJob(engine, job, never);
    return { status, error, summary: details?.['summary'] as Record<string, unknown> };
  }
  return {
    storage,
    engine,
    sources,
    close,
    add: async (request: Omit<SourceRequest, 'tags'> & { tags?: string[] }) => {
      const { source_id: source, job_id: job } = await sources.add({ tags, ...request });
      return { source, ...(await ended(job)) };
    },
    refresh: async (source: number) => ended(await sources.refresh(source)),
    async documents() {
      const found = await engine.documents({ limit: 1_000 });
      return new Map(found.documents.map((document) => [new URL(document.source_path ?? '').pathname, document]));
    },
  };
}

const numbers = Array.from({ length: pages }, (_, index) => `/docs/p/${index + 1}.html`);

function sqliteIn(t: Owner): StorageLocation {
  return { backend: 'sqlite', path: join(makeFolder(t), 'carrel.db') };
}

onEachBackend('crawling', (backend) => {
  it('a refresh sends validators, writes changes, and drops pages missing twice', async (t) => {
    const site = await startTrapSite(t, { pages });
    const program = await startProcess(await backend.newLocation());
    const { source } = await program.add({ url: `${site.origin}/docs/p/1.html`, site: true, depth: 20 });
    const before = await program.documents();
    site.change(2);
    site.remove(4);
    const first = await program.refresh(source);
    const visitedAgain = numbers.filter((path) => !['/docs/p/2.html', '/docs/p/4.html'].includes(path));
    assert.deepEqual(site.unchanged.toSorted(), visitedAgain.toSorted());
    assert.deepEqual([first.summary['new'], first.summary['changed'], first.summary['gone']], [0, 1, 0]);
    const between = await program.documents();
    assert.equal(between.get('/docs/p/2.html')?.id, before.get('/docs/p/2.html')?.id);
    assert.notEqual(between.get('/docs/p/2.html')?.content_hash, before.get('/docs/p/2.html')?.content_hash);
    assert.ok(between.has('/docs/p/4.html'), 'one 404 may be a mistake');
    const second = await program.refresh(source);
    assert.deepEqual([second.summary['changed'], second.summary['gone']], [0, 1]);
    const left = await program.documents();
    assert.ok(!left.has('/docs/p/4.html'));
    await program.engine.restoreDocument(before.get('/docs/p/4.html')?.id ?? 0);
    await program.close();
  });

  it('reads three feed formats, and sitemaps by the date of each page', async (t) => {
    const site = await startTrapSite(t, { pages: 10 });
    const program = await startProcess(await backend.newLocation());
    for (const feed of ['feed.rss', 'feed.atom', 'feed.json']) {
      const { summary } = await program.add({ url: `${site.origin}/${feed}`, feed: true });
      assert.deepEqual([Number(summary['new']) + Number(summary['changed']) + Number(summary['unchanged'])], [2], feed);
    }
    assert.deepEqual([...(await program.documents()).keys()].sort(), ['/docs/p/3.html', '/docs/p/4.html']);
    const { source, summary } = await program.add({
      url: `${site.origin}/docs/`,
      sitemap: true,
      exclude: ['docs/p/5.html'],
    });
    assert.equal((await program.documents()).size, 4);
    assert.deepEqual(summary['failed'], 0);
    site.change(1);
    site.requests.length = 0;
    const { summary: later } = await program.refresh(source);
    assert.deepEqual([later['changed'], later['unchanged']], [1, 3]);
    assert.deepEqual(
      site.requests.filter((path) => path.startsWith('/docs/p/')),
      ['/docs/p/1.html'],
      'the others have the same date',
    );
    const failed = await program.add({ url: `${site.origin}/docs/p/1.html`, feed: true });
    assert.deepEqual([failed.status, /is not a feed/.test(failed.error ?? '')], ['failed', true]);
    await program.close();
  });

  it('continues after a killed process, and fetches from a host in one process at a time', async (t) => {
    const site = await startTrapSite(t, { pages });
    const location = await backend.newLocation();
    const [first, second] = [await startProcess(location), await startProcess(location)];
    const halfway = site.after(pages / 2);
    const sources = await Promise.all([
      first.sources.add({ url: `${site.origin}/docs/p/1.html`, tags, site: true, depth: 20 }),
      second.sources.add({ url: `${site.origin}/docs/p/2.html`, tags: ['collection:other'], site: true, depth: 20 }),
    ]);
    await halfway;
    await first.close();
    for (const { job_id: job } of sources) {
      const { status, error } = await waitForJob(second.engine, job, never);
      assert.deepEqual([status, error], ['done', null]);
    }
    assert.equal(site.concurrencyMax(), 1);
    const { documents } = await second.engine.documents({ limit: 1_000 });
    const own = documents.filter((document) => document.tags.includes('collection:docs'));
    assert.deepEqual(own.map((document) => new URL(document.source_path ?? '').pathname).sort(), [...numbers].sort());
    const counts = [...Map.groupBy(site.requests, (path) => path).values()].map(({ length }) => length);
    // Once for each source, and again if it was being read when the first process ended, which may have run both.
    assert.ok(Math.max(...counts) <= 2 * sources.length);
    await second.close();
  });
});

test('visits every page once, politely, despite crawler traps', async (t) => {
  const site = await startTrapSite(t, { pages, links });
  const program = await startProcess(sqliteIn(t));
  const { status, summary } = await program.add({
    url: `${site.origin}/docs`,
    site: true,
    depth: 20,
    pages: pages + 100,
  });
  assert.equal(status, 'done');
  const documents = await program.documents();
  const others = [...documents.keys()].filter((path) => !numbers.includes(path));
  const without = /^\/docs\/(?:s\/|calendar$|canonical-loop-|many$)/;
  const expected = ['', 'bad-canonical', 'behind-noindex', 'busy', 'latin', 'notes.md'].map((path) => `/docs/${path}`);
  assert.deepEqual(others.filter((path) => !without.test(path)).sort(), expected);
  assert.equal(documents.size - others.length, pages, 'all ordinary pages');
  for (const trap of ['/docs/s/', '/docs/canonical-loop-']) {
    assert.equal(others.filter((path) => path.startsWith(trap)).length, 1, `${trap} leads to one page`);
  }
  const calendars = (await program.engine.documents({ query: 'Month', limit: 1_000 })).documents.length;
  assert.ok(calendars <= (pages + 100) / 5, `${calendars} months of a calendar`);
  const [latin] = (await program.engine.document(documents.get('/docs/latin')?.id ?? 0)).chunks;
  assert.match(latin?.text ?? '', /Crème brûlée/);

  const forbidden = [
    'docs/private/secret',
    'docs/nofollowed',
    'docs/submit',
    'above.html',
    'docs/scripted',
    'docs/picture.png',
  ];
  assert.deepEqual(
    forbidden.filter((path) => site.requests.includes(`/${path}`)),
    [],
  );
  assert.equal(site.concurrencyMax(), 1);
  assert.deepEqual([...site.userAgents], [crawlSlice.fields.userAgent.default]);
  const again = [...Map.groupBy(site.requests, (path) => path)]
    .filter(([, { length }]) => length > 1)
    .map(([path]) => path);
  // Pages that may succeed later, and links to an unavailable page.
  const retried = ['bad-canonical', 'busy', 'chain/onexxxx', 'slow'].map((path) => `/docs/${path}`);
  assert.deepEqual(again.sort(), retried);
  assert.deepEqual(summary['limits'], ['calendar']);
  const reasons = new Set((summary['reasons'] as { reason: string }[]).map(({ reason }) => reason));
  // A hundred thousand links exceed a page's memory or time limit.
  const known = [
    'fetch_timeout',
    'no_text_in_document',
    'noindex',
    'robots',
    'soft 404',
    'status 404',
    'too_large',
    'too_many_redirects',
  ];
  assert.deepEqual([...reasons].filter((reason) => !reason.startsWith('extraction_')).sort(), known);
  const [listed] = await program.sources.list();
  assert.deepEqual(
    [listed?.status, listed?.documents, listed?.mode, listed?.collection],
    ['idle', documents.size + calendars - 1, 'site', 'docs'],
  );
  await program.close();
});

test("a run stops at the source's byte or CPU limit, and says so", async (t) => {
  const site = await startTrapSite(t, { pages: 6 });
  const location = sqliteIn(t);
  for (const [limit, limits] of Object.entries({ bytes: { sourceBytesMax: 1 }, cpu: { sourceCpuMinutes: 0 } })) {
    const program = await startProcess(location, limits);
    const url = `${site.origin}/docs/p/1.html`;
    const { status, summary } = await program.add({ url, site: true, depth: 20, tags: [`collection:${limit}`] });
    assert.deepEqual([status, summary['limits']], ['done', [limit]]);
    const read = Number(summary['new']);
    assert.ok(read > 0 && read < 6, `${read} pages`);
    await program.close();
  }
});
