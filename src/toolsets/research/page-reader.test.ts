import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { startPageSite } from '../../../test/fakes/page-site.ts';
import { docxOf, paragraph } from '../../../test/security/parsers/office-samples.ts';
import { CarrelError } from '../../base/errors.ts';
import { createExtractor } from '../../documents/extractor.ts';
import { createSafeFetch } from '../../web/safe-fetch.ts';
import { parseTargetList } from '../../web/target-list.ts';
import { createPageReader, type Page } from './page-reader.ts';

const extractor = createExtractor({ cpuMsMax: 5_000, memoryMb: 256, workersMax: 1 });
after(() => extractor.close());

async function start(t: TestContext, timeoutMs = 5_000) {
  const site = await startPageSite(t);
  const allowPrivate = parseTargetList([`127.0.0.1:${site.port}`]);
  let now = 0;
  const reader = createPageReader({
    fetch: createSafeFetch({ allowPrivate, timeoutMs }),
    extractor,
    clock: () => now,
  });
  const read = (path: string, allowCached = false, mode: 'text' | 'markdown' = 'text'): Promise<Page> =>
    reader.read({ url: `${site.origin}${path}`, mode, allowCached, signal: new AbortController().signal });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { site, read, pass };
}

test('returns the text, title and final URL of a page', async (t) => {
  const { site, read } = await start(t);
  const page = await read('/moved');
  assert.equal(page.url, `${site.origin}/article`);
  assert.equal(page.title, 'How a crane works');
  assert.match(page.text, /Twelve people turn the wheel/);
  assert.doesNotMatch(page.text, /script text|color: red/);
  assert.equal(page.isTruncated, false);
});

test('reads an office document like a page, with any declared type', async (t) => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/octet-stream');
    response.end(docxOf(paragraph('Words of a letter.')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const fetch = createSafeFetch({ allowPrivate: parseTargetList([`127.0.0.1:${port}`]), timeoutMs: 5_000 });
  const { signal } = new AbortController();
  const url = `http://127.0.0.1:${port}/letter.docx`;
  const page = await createPageReader({ fetch, extractor }).read({ url, mode: 'text', allowCached: false, signal });
  assert.equal(page.text, 'Words of a letter.');
});

const failures: [path: string, code: string, details: object][] = [
  ['/missing', 'fetch_failed', { status: 404 }],
  ['/forbidden', 'fetch_failed', { status: 403 }],
  ['/broken', 'fetch_failed', { status: 500 }],
  ['/image', 'fetch_failed', { reason: 'unsupported_content_type' }],
  ['/loop', 'fetch_failed', { reason: 'too_many_redirects' }],
  ['/to-metadata', 'fetch_invalid_url', { reason: 'private_network_blocked' }],
  ['/to-loopback', 'fetch_invalid_url', { reason: 'port_not_allowed' }],
];
for (const [path, code, details] of failures) {
  test(`004 error codes: ${path} is ${code}`, async (t) => {
    const { read } = await start(t);
    await assert.rejects(read(path), (error: unknown) => {
      assert.ok(error instanceof CarrelError);
      assert.equal(error.code, code);
      assert.partialDeepStrictEqual(error.data['details'], details);
      assert.doesNotMatch(error.message, /srv/);
      return true;
    });
  });
}

test('004 error codes: a site that does not answer is fetch_timeout', async (t) => {
  const { read } = await start(t, 200);
  await assert.rejects(read('/silent'), { code: 'fetch_timeout' });
});

test('the next part comes from the cached text for a while', async (t) => {
  const { site, read, pass } = await start(t);
  assert.match((await read('/changing')).text, /first version/);
  site.change('second version');
  assert.match((await read('/changing', true)).text, /first version/);
  assert.match((await read('/changing')).text, /second version/);
  site.change('third version');
  pass(5 * 60_000);
  assert.match((await read('/changing', true)).text, /third version/);
});
