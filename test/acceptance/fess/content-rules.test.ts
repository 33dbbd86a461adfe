import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before } from 'node:test';
import type { RpcError } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import { documentAt, documentUri, openWorld, type World, wholeFile } from './bridge.ts';

const owner = wholeFile();
let strict: World;
let open: World;
before(async () => {
  strict = await openWorld(owner);
  open = await openWorld(owner, {
    transport: 'http',
    config: { contentFetch: { allowPrivateNetworkTargets: true, maxBytes: 100_000, timeoutMs: 2_000 } },
  });
});

async function refusal({ fess, peer }: World, url: string): Promise<RpcError | undefined> {
  fess.setDocuments([documentAt(url)]);
  const { error } = await peer.request('resources/read', { uri: `${documentUri}/content` });
  return error;
}

verifies(
  ['001 AT-SEC-002', '000 §8.5.2 private', '000 §11 ssrf'],
  'rejects private network targets in any spelling, and names the setting that allows them',
  async () => {
    const urls = [
      'http://192.168.0.10/page',
      'http://10.1.2.3/',
      'http://172.16.0.1/',
      'http://127.0.0.1/',
      strict.site.url,
      'http://localhost:8080/',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://0.0.0.0/',
    ];
    for (const url of urls) {
      const error = await refusal(strict, url);
      assert.equal(error?.data?.['code'], 'private_network_blocked', url);
      assert.match(error?.message ?? '', /Private network targets are not allowed.*contentFetch\.viaFess/);
    }
    assert.equal(strict.site.requests.length, 0);
  },
);

verifies('000 §8.5.2 private', 'with allowPrivateNetworkTargets reads them, except cloud metadata', async () => {
  assert.equal(await refusal(open, `${open.site.url}/page.html`), undefined);
  const metadata = await refusal(open, 'http://169.254.169.254/latest/meta-data/');
  assert.equal(metadata?.data?.['code'], 'private_network_blocked');
});

verifies(
  ['000 §8.5.2 fetch', '000 §10 restriction', '000 §10 timeout'],
  'size, timeout, scheme, status and content type have separate errors',
  async () => {
    open.site.setPage('/image', { contentType: 'image/png', body: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') });
    const cases: [string, string, RegExp][] = [
      [`${open.site.url}/big.html`, 'too_large', /contentFetch\.maxBytes/],
      [`${open.site.url}/silent`, 'fetch_timeout', /contentFetch\.timeoutMs/],
      ['file:///etc/passwd', 'scheme_not_allowed', /contentFetch\.allowedSchemes/],
      ['ftp://example.com/a', 'scheme_not_allowed', /contentFetch\.allowedSchemes/],
      [`${open.site.url}/gone`, 'content_unavailable', /status 410/],
      [`${open.site.url}/circle`, 'too_many_redirects', /redirects/],
      [`${open.site.url}/image`, 'unsupported_content_type', /OCR is off/],
      ['http://user:secret@example.com/', 'content_unavailable', /URL in the index is unusable/],
    ];
    for (const [url, code, message] of cases) {
      const error = await refusal(open, url);
      assert.equal(error?.data?.['code'], code, `${url}: ${error?.message}`);
      assert.match(error?.message ?? '', message);
    }
  },
);

verifies('000 §11 ssrf', 'a document that points at Fess itself does not bypass the label', async () => {
  for (const path of ['/api/v1/documents?q=*:*', '/cache/?docId=x', '/search?q=a', '//api/v1/labels']) {
    assert.equal((await refusal(open, `${open.fess.url}${path}`))?.data?.['code'], 'host_not_allowed', path);
  }
  open.site.setPage('/to-fess', { status: 302, headers: { location: `${open.fess.url}/api/v1/documents?q=*:*` } });
  assert.equal((await refusal(open, `${open.site.url}/to-fess`))?.data?.['code'], 'host_not_allowed');
});

verifies(
  ['000 §8.5.1 index', '000 §10 restriction'],
  'uses index text that is long enough, and falls back to short text if the address is forbidden, fails or is empty',
  async (t) => {
    for (const version of ['15.4', '15.8'] as const) {
      const { fess, site, peer } = await openWorld(t, {
        version,
        fess: { additionalFields: ['content'] },
        config: { contentFetch: { allowedHostAllowlist: ['127.0.0.1'], timeoutMs: 2_000 } },
      });
      const long = 'A sentence of the index. '.repeat(50).trim();
      fess.setDocuments([documentAt(`${site.url}/page.html`, { content: long })]);
      const whole = await peer.request('resources/read', { uri: `${documentUri}/content` });
      assert.equal((whole.result as { contents: { text: string }[] }).contents[0]?.text, long);
      const facts = await peer.request('resources/read', { uri: documentUri });
      const hash = createHash('sha256').update(long).digest('hex');
      assert.equal(
        (facts.result as { contents: { _meta: Record<string, unknown> }[] }).contents[0]?._meta['hash'],
        hash,
      );
      assert.equal(site.requests.length, 0);
      site.setPage('/empty', { contentType: 'text/html', body: '<script>draw()</script>' });
      const read = async (url: string, more: object = {}) => {
        fess.setDocuments([documentAt(url, { content: 'All there is.', digest: 'All there', ...more })]);
        const { result, error } = await peer.request('resources/read', { uri: `${documentUri}/content` });
        return error?.data?.['code'] ?? (result as { contents: { text: string }[] }).contents[0]?.text;
      };
      const refused = ['http://192.168.0.10/', 'file:///share/a.txt', 'http://elsewhere.example.org/'];
      const failing = ['/gone', '/silent', '/document.pdf', '/empty'].map((path) => `${site.url}${path}`);
      for (const url of [...refused, ...failing]) assert.equal(await read(url), 'All there is.', url);
      assert.match(String(await read(`${site.url}/page.html`)), /^First paragraph/);
      assert.equal(await read('file:///share/a.txt', { content: ' ' }), 'scheme_not_allowed', 'a digest is no content');
    }
  },
);

verifies('000 §8.5.2 fetch', 'fetches nothing with contentFetch.enabled false', async (t) => {
  const world = await openWorld(t, { config: { contentFetch: { enabled: false, viaFess: true } } });
  const { fess, site, peer } = world;
  fess.setDocuments([documentAt(`${site.url}/page.html`, { content: '', digest: '' })]);
  const { error } = await peer.request('resources/read', { uri: `${documentUri}/content` });
  assert.equal(error?.data?.['code'], 'content_fetch_disabled');
  assert.match(error?.message ?? '', /contentFetch\.enabled/);
  fess.setDocuments([documentAt(`${site.url}/page.html`)]);
  const short = await peer.request('resources/read', { uri: `${documentUri}/content` });
  assert.equal((short.result as { contents: { text: string }[] }).contents[0]?.text, 'short');
  assert.equal(site.requests.length, 0);
});
