import assert from 'node:assert/strict';
import { longText } from '../../fakes/page-site.ts';
import { verifies } from '../../support/verifies.ts';
import { startResearch } from './research-fixture.ts';

const { rpc, site, carrel } = await startResearch({ FETCH_TIMEOUT_MS: '1500' });
const page = (path: string, args: object = {}) => rpc.result('fetch_page', { url: `${site.origin}${path}`, ...args });

verifies(
  ['004 fetch_page/url', '004 errors/fetch_invalid_url', '004 errors/validation_error'],
  'requires a url that may be fetched',
  async () => {
    for (const args of [{}, { url: 7 }, { url: null }, { url: ['https://a.example'] }]) {
      assert.equal((await rpc.error('fetch_page', args)).data.code, 'validation_error');
    }
    const bad = [
      '',
      'no url',
      'example.org',
      'ftp://example.org/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'http://',
    ];
    for (const url of bad) {
      const error = await rpc.error('fetch_page', { url });
      assert.equal(error.code, -32_000);
      assert.equal(error.data.code, 'fetch_invalid_url', url);
    }
  },
);

verifies('004 fetch_page/ssrf', 'rejects private, loopback and metadata addresses in any spelling', async () => {
  const own = new URL(carrel.url).port;
  const blocked = [
    'http://127.0.0.1/',
    `http://127.0.0.1:${own}/health`,
    `http://localhost:${own}/health`,
    'http://10.0.0.5/',
    'http://192.168.1.1/',
    'http://172.16.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://[::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:127.0.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://user:pass@example.org/',
    'https://example.org:22/',
  ];
  for (const url of blocked) {
    const error = await rpc.error('fetch_page', { url });
    assert.equal(error.data.code, 'fetch_invalid_url', url);
    assert.equal(typeof error.data.details['reason'], 'string');
  }
});

verifies('004 fetch_page/redirects', "checks every redirect like the caller's URL", async () => {
  assert.equal((await page('/moved'))['url'], `${site.origin}/article`);
  for (const path of ['/to-metadata', '/to-loopback']) {
    const error = await rpc.error('fetch_page', { url: `${site.origin}${path}` });
    assert.equal(error.data.code, 'fetch_invalid_url', path);
    assert.match(error.message, /redirects to an address that is refused/);
  }
  assert.equal((await rpc.error('fetch_page', { url: `${site.origin}/loop` })).data.code, 'fetch_failed');
});

verifies('004 fetch_page/max_chars', 'truncates to max_chars, 8000 by default, at a natural break', async () => {
  const usual = await page('/long');
  assert.ok(Number(usual['content_length']) <= 8000 && Number(usual['content_length']) > 4800);
  assert.equal(usual['truncated'], true);
  assert.equal(usual['total_length'], longText.length);
  assert.match(String(usual['content']), /in the air\.\n\n$/);
  for (const maxChars of [1, 10, 100, 333]) {
    const { content, content_length: length } = await page('/long', { max_chars: maxChars });
    assert.ok(String(content).length <= maxChars);
    assert.equal(length, String(content).length);
  }
  for (const maxChars of [0, -1, 1.5, 'many']) {
    const error = await rpc.error('fetch_page', { url: `${site.origin}/long`, max_chars: maxChars });
    assert.equal(error.data.code, 'validation_error');
  }
  const emoji = await page('/emoji', { max_chars: 7 });
  assert.equal(emoji['content'], '😀😀😀');
});

verifies('004 fetch_page/response', 'next_start leads through a long page to its end', async () => {
  const asked = site.requests.filter((path) => path === '/long').length;
  let content = '';
  let start: unknown = 0;
  let answers = 0;
  while (start !== undefined) {
    const part = await page('/long', { start, max_chars: 3000 });
    content += part['content'];
    start = part['next_start'];
    assert.equal(part['truncated'], start !== undefined);
    assert.equal(/start: \d+/.test(String(part['hint'])), start !== undefined);
    answers += 1;
  }
  assert.equal(content, longText);
  assert.ok(answers > 5);
  assert.equal(site.requests.filter((path) => path === '/long').length, asked + 1);
  const beyond = await rpc.error('fetch_page', { url: `${site.origin}/long`, start: longText.length });
  assert.equal(beyond.data.code, 'validation_error');
  assert.equal(beyond.data.details['total_length'], longText.length);
});

verifies(
  '004 fetch_page/extract_mode',
  'text is plain, markdown keeps headings, lists, tables, links and code',
  async () => {
    const text = String((await page('/article'))['content']);
    assert.match(text, /Wheel/);
    assert.doesNotMatch(text, /^#|\]\(|script text|About us|Copyright/m);
    const markdown = String((await page('/article', { extract_mode: 'markdown' }))['content']);
    assert.match(markdown, /^#+ How a crane works$/m);
    assert.match(markdown, /^#+ Parts$/m);
    assert.match(markdown, /^[-*] Wheel$/m);
    assert.match(markdown, /\| Rope +\| 40 kg +\|/);
    assert.ok(markdown.includes(`[wheels](${site.origin}/wheels)`));
    assert.ok(markdown.includes('`lift(stone)`'));
    const error = await rpc.error('fetch_page', { url: `${site.origin}/article`, extract_mode: 'html' });
    assert.equal(error.data.code, 'validation_error');
    assert.match(error.message, /extract_mode must be one of text, markdown/);
  },
);

verifies(['004 fetch_page/content-type', '004 errors/fetch_failed'], 'reads only content types with text', async () => {
  assert.match(String((await page('/json'))['content']), /crane/);
  assert.equal((await page('/markdown'))['title'], 'Title here');
  for (const path of ['/image', '/binary']) {
    const error = await rpc.error('fetch_page', { url: `${site.origin}${path}` });
    assert.equal(error.data.code, 'fetch_failed', path);
    assert.equal(error.data.details['reason'], 'unsupported_content_type', path);
  }
  const empty = await page('/empty');
  assert.equal(empty['content'], '');
  assert.match(String(empty['hint']), /no readable text/);
});

verifies('004 errors/fetch_failed', 'reports an error status by number, without the body', async () => {
  for (const [path, status] of [
    ['/missing', 404],
    ['/forbidden', 403],
    ['/broken', 500],
  ] as const) {
    const error = await rpc.error('fetch_page', { url: `${site.origin}${path}` });
    assert.equal(error.code, -32_000);
    assert.equal(error.data.code, 'fetch_failed');
    assert.equal(error.data.details['status'], status);
    assert.doesNotMatch(JSON.stringify(error), /srv/);
  }
});

verifies(
  ['004 errors/fetch_timeout', '004 config/FETCH_TIMEOUT_MS'],
  'reports fetch_timeout if a site does not answer within FETCH_TIMEOUT_MS',
  async () => {
    const error = await rpc.error('fetch_page', { url: `${site.origin}/silent` });
    assert.equal(error.code, -32_000);
    assert.equal(error.data.code, 'fetch_timeout');
  },
);
