import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { serveHttp } from '../../test/fakes/loopback-server.ts';
import { createSqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { createSafeFetch } from '../web/safe-fetch.ts';
import { parseTargetList } from '../web/target-list.ts';
import { createHosts } from './hosts.ts';

const never = new AbortController().signal;

describe('hosts', () => {
  // One database for all tests, because each site has its own port.
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  let storage: Storage;
  before(async () => {
    storage = await createSqliteStorage({ path: join(folder, 'test.db') });
  });
  after(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(
    t: TestContext,
    { allowed = ['127.0.0.1'], own = [] as string[], robots = '', status = 200 } = {},
  ) {
    const requests: string[] = [];
    const site = await serveHttp(t, (request, response) => {
      requests.push(request.url ?? '');
      response.writeHead(status, { 'content-type': 'text/plain' }).end(robots);
    });
    const fetch = createSafeFetch({ allowPrivate: parseTargetList(allowed) });
    const hostsOf = (owner: string) =>
      createHosts({
        web: storage.web,
        fetch,
        owner,
        userAgent: 'Carrel/1.0 (test)',
        ownHosts: parseTargetList(own),
        stopping: never,
      });
    return { origin: site.origin, requests, hostsOf };
  }

  test('robots.txt is matched by our name, and fetched once for all processes', async (t) => {
    const robots = 'User-agent: *\nDisallow: /\n\nUser-agent: carrel\nDisallow: /no\nAllow: /no/but$\nCrawl-delay: 2\n';
    const { origin, requests, hostsOf } = await open(t, { robots, own: ['127.0.0.1'] });
    for (const owner of ['first', 'second']) {
      const host = await hostsOf(owner)(origin, never);
      const rules = await host.robots(never);
      const allowed = ['/', '/no', '/no/but', '/no/but/x'].filter((path) => rules.allows(`${origin}${path}`));
      assert.deepEqual([allowed, rules.delayMs], [['/', '/no/but'], 2_000]);
      await host.release();
    }
    assert.deepEqual(requests, ['/robots.txt']);
  });

  test('waits a second between requests to a host, across processes, unless the host is our own', async (t) => {
    const { origin, hostsOf } = await open(t);
    const times: number[] = [];
    const send = async (): Promise<number> => times.push(performance.now());
    const first = await hostsOf('first')(origin, never);
    await first.request(never, send);
    await first.release();
    const second = await hostsOf('second')(origin, never);
    await second.request(never, send);
    await second.release();
    // Timers may be a few milliseconds early.
    assert.ok((times[1] ?? 0) - (times[0] ?? 0) > 950, String(times));
    const ownSite = await open(t, { own: ['127.0.0.1'] });
    assert.equal((await ownSite.hostsOf('first')(ownSite.origin, never)).pauseMs, 0);
  });

  test('fetches nothing if robots.txt fails or the address is private', async (t) => {
    const broken = await open(t, { status: 500, own: ['127.0.0.1'] });
    const host = await broken.hostsOf('first')(broken.origin, never);
    await assert.rejects(host.robots(never), /answers requests for robots.txt with status 500/);
    const missing = await open(t, { status: 404, own: ['127.0.0.1'] });
    const rules = await (await missing.hostsOf('first')(missing.origin, never)).robots(never);
    assert.ok(rules.allows(`${missing.origin}/anything`));
    const closed = await open(t, { allowed: [] });
    const refused = await closed.hostsOf('first')(closed.origin, never);
    await assert.rejects(refused.robots(never), { code: 'private_network_blocked' });
    assert.deepEqual(closed.requests, []);
  });
});
