import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { type TestContext, test } from 'node:test';
import { serveHttp } from '../../test/fakes/loopback-server.ts';
import { CarrelError } from '../base/errors.ts';
import { createPageCache, type PageCacheConfig } from './page-cache.ts';
import { createSafeFetch, type FetchRequest, type FetchResponse } from './safe-fetch.ts';
import { parseTargetList } from './target-list.ts';

interface Site {
  /** The body as text, its source, and the number of requests the site has seen. */
  get(path: string, request?: FetchRequest): Promise<[body: string, how: 'cache' | 'site', requests: number]>;
  response(path: string, request?: FetchRequest): Promise<FetchResponse>;
  headers: Record<string, OutgoingHttpHeaders>;
  bodies: Record<string, string>;
  clock: { ms: number };
  requests: string[];
}

/** A site with test-defined headers that answers 304 to matching validators. */
async function site(t: TestContext, config: Partial<PageCacheConfig> = {}): Promise<Site> {
  const headers: Site['headers'] = {};
  const bodies: Site['bodies'] = {};
  const requests: string[] = [];
  const clock = { ms: Date.parse('2026-11-15T00:00:00Z') };
  const { origin } = await serveHttp(t, (request, response) => {
    const path = request.url ?? '';
    const pageHeaders = headers[path] ?? {};
    const ifNoneMatch = request.headers['if-none-match'];
    const ifModifiedSince = request.headers['if-modified-since'];
    requests.push(ifNoneMatch ?? ifModifiedSince ?? 'unconditional');
    const isUnchanged =
      (ifNoneMatch ?? ifModifiedSince) !== undefined &&
      [pageHeaders['etag'], pageHeaders['last-modified']].includes(ifNoneMatch ?? ifModifiedSince);
    response.writeHead(
      pageHeaders['location'] ? 302 : isUnchanged ? 304 : Number(pageHeaders[':status'] ?? 200),
      withoutStatus(pageHeaders),
    );
    response.end(bodies[path] ?? path);
  });
  const safeFetch = createSafeFetch({ allowPrivate: parseTargetList(['127.0.0.1']) });
  const cached = createPageCache(
    { bytesMax: 1_000_000, entriesMax: 100, ...config },
    { safeFetch, now: () => clock.ms },
  );
  const response = (path: string, request?: FetchRequest) => cached(origin + path, request);
  const get: Site['get'] = async (path, request) => {
    const answer = await response(path, request);
    return [new TextDecoder().decode(answer.body), answer.fromCache ? 'cache' : 'site', requests.length];
  };
  return { get, response, headers, bodies, clock, requests };
}

function withoutStatus({ ':status': _status, ...headers }: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return headers;
}

test('serves a fresh page without a request until it expires', async (t) => {
  const { get, headers, clock } = await site(t);
  headers['/a'] = { 'cache-control': 'public, Max-Age="60"' };
  assert.deepEqual(await get('/a'), ['/a', 'site', 1]);
  clock.ms += 59_000;
  assert.deepEqual(await get('/a#fragment'), ['/a', 'cache', 1]);
  clock.ms += 1000;
  assert.deepEqual(await get('/a'), ['/a', 'site', 2]);
});

test('revalidates a stale page, and a 304 makes it fresh again', async (t) => {
  const { get, headers, clock, requests } = await site(t);
  headers['/etag'] = { etag: '"v1"', 'cache-control': 'max-age=10' };
  headers['/date'] = { 'last-modified': 'Sun, 01 Nov 2026 00:00:00 GMT' };
  await get('/etag');
  await get('/date');
  clock.ms += 10_000;
  assert.deepEqual(await get('/etag'), ['/etag', 'cache', 3]);
  assert.deepEqual(await get('/date'), ['/date', 'cache', 4]);
  assert.deepEqual(requests.slice(2), ['"v1"', 'Sun, 01 Nov 2026 00:00:00 GMT']);
  assert.deepEqual(await get('/etag'), ['/etag', 'cache', 4], 'fresh for another ten seconds');
});

test('replaces a stored page that has changed', async (t) => {
  const { get, headers, bodies } = await site(t);
  headers['/a'] = { etag: '"v1"' };
  await get('/a');
  headers['/a'] = { etag: '"v2"' };
  bodies['/a'] = 'new';
  assert.deepEqual(await get('/a'), ['new', 'site', 2]);
  assert.deepEqual(await get('/a'), ['new', 'cache', 3]);
});

const unstorable: [string, OutgoingHttpHeaders][] = [
  ['no-store', { 'cache-control': 'no-store, max-age=60', etag: '"a"' }],
  ['private', { 'cache-control': 'private, max-age=60', etag: '"a"' }],
  ['Vary: *', { 'cache-control': 'max-age=60', etag: '"a"', vary: '*' }],
  ['status 404', { 'cache-control': 'max-age=60', etag: '"a"', ':status': 404 }],
  ['neither lifetime nor validator', {}],
  ['an entity tag that would break a header line', { etag: '"\xe9"' }],
];

for (const [what, pageHeaders] of unstorable) {
  test(`does not store an answer with ${what}`, async (t) => {
    const { get, headers, requests } = await site(t);
    headers['/a'] = pageHeaders;
    await get('/a');
    assert.deepEqual(await get('/a'), ['/a', 'site', 2]);
    assert.deepEqual(requests, ['unconditional', 'unconditional']);
  });
}

test('an answer that may not be stored evicts the older one', async (t) => {
  const { get, headers } = await site(t);
  headers['/a'] = { etag: '"a"' };
  await get('/a');
  headers['/a'] = { etag: '"b"', 'cache-control': 'no-store' };
  await get('/a');
  headers['/a'] = { etag: '"a"' };
  assert.deepEqual(await get('/a'), ['/a', 'site', 3]);
});

const lifetimes: [string, OutgoingHttpHeaders, seconds: number][] = [
  ['s-maxage wins over max-age', { 'cache-control': 'max-age=5, s-maxage=50' }, 50],
  ['Age is subtracted', { 'cache-control': 'max-age=50', age: '20' }, 30],
  ['Expires counts from Date', { expires: 'Sun, 15 Nov 2026 01:00:30 GMT', date: 'Sun, 15 Nov 2026 01:00:00 GMT' }, 30],
  ['max-age before Expires', { 'cache-control': 'max-age=7', expires: 'Sun, 15 Nov 2026 01:00:00 GMT' }, 7],
  ['at most a day', { 'cache-control': 'max-age=31536000' }, 86_400],
  ['no-cache revalidates each time', { 'cache-control': 'max-age=50, no-cache', etag: '"a"' }, 0],
  ['an invalid lifetime counts as none', { 'cache-control': 'max-age=-5', etag: '"a"' }, 0],
];

for (const [rule, pageHeaders, seconds] of lifetimes) {
  test(`how long a page is fresh (RFC 9111, 4.2): ${rule}`, async (t) => {
    const { get, headers, clock, requests } = await site(t);
    headers['/a'] = { date: 'Sun, 15 Nov 2026 00:00:00 GMT', ...pageHeaders };
    await get('/a');
    if (seconds > 0) {
      clock.ms += 1000 * seconds - 1;
      await get('/a');
      assert.equal(requests.length, 1, 'still fresh');
      clock.ms += 1;
    }
    await get('/a');
    assert.equal(requests.length, 2, 'stale');
  });
}

test('requests a redirect each time but stores its target', async (t) => {
  const { response, headers, requests } = await site(t);
  headers['/moved'] = { location: '/a', 'cache-control': 'max-age=60', etag: '"m"' };
  headers['/a'] = { etag: '"a"', 'cache-control': 'max-age=60' };
  await response('/moved');
  const again = await response('/moved');
  assert.equal(again.fromCache, true);
  assert.match(again.redirects[0] ?? '', /\/moved$/);
  assert.deepEqual(requests, ['unconditional', 'unconditional', 'unconditional', '"a"']);
  headers['/moved'] = { location: '/b' };
  assert.match((await response('/moved')).url, /\/b$/);
});

test('caches separately by headers, limit and method', async (t) => {
  const { get, response, headers, bodies } = await site(t);
  headers['/a'] = { 'cache-control': 'max-age=60' };
  bodies['/a'] = 'x'.repeat(1000);
  await get('/a');
  assert.equal((await get('/a', { accept: 'text/plain' }))[2], 2);
  assert.equal((await get('/a', { acceptLanguage: 'de' }))[2], 3);
  assert.equal((await response('/a', { method: 'HEAD' })).fromCache, false);
  await assert.rejects(response('/a', { bytesMax: 999 }), { code: 'too_large' });
});

test('inspects the head of stored pages too, never of a 304', async (t) => {
  const { response, headers } = await site(t);
  headers['/a'] = { etag: '"a"', 'content-type': 'text/html' };
  await response('/a');
  const seen: [number, string | undefined][] = [];
  await response('/a', { inspectHead: (head) => seen.push([head.status, head.contentType]) });
  assert.deepEqual(seen, [[200, 'text/html']]);
  const refusal = new CarrelError('invalid_arguments', 'No.');
  const inspectHead = (): void => {
    throw refusal;
  };
  await assert.rejects(response('/a', { inspectHead }), refusal);
});

test("changing a returned body doesn't change the stored one", async (t) => {
  const { response, get, headers } = await site(t);
  headers['/a'] = { 'cache-control': 'max-age=60' };
  (await response('/a')).body.fill(0);
  const second = await response('/a');
  structuredClone(second.body, { transfer: [second.body.buffer] });
  assert.deepEqual(await get('/a'), ['/a', 'cache', 1]);
});

test('evicts the least recently used page, by number and by bytes', async (t) => {
  const byNumber = await site(t, { entriesMax: 2 });
  for (const path of ['/a', '/b', '/c']) byNumber.headers[path] = { 'cache-control': 'max-age=60' };
  for (const path of ['/a', '/b', '/a', '/c']) await byNumber.get(path);
  assert.deepEqual([(await byNumber.get('/a'))[1], (await byNumber.get('/b'))[1]], ['cache', 'site']);

  const byBytes = await site(t, { bytesMax: 1000 });
  for (const path of ['/1', '/2', '/3', '/4', '/5', '/big']) {
    byBytes.headers[path] = { 'cache-control': 'max-age=60' };
    byBytes.bodies[path] = 'x'.repeat(path === '/big' ? 251 : 250);
    await byBytes.get(path);
  }
  const how = async (path: string) => (await byBytes.get(path))[1];
  assert.deepEqual(
    [await how('/big'), await how('/2'), await how('/5'), await how('/1')],
    ['site', 'cache', 'cache', 'site'],
  );
});
