import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { Secret, scrubSecrets } from '../../base/secret.ts';
import { findFessConfig, readFessConfig } from './read-fess-config.ts';

const domain = { id: 'finance', name: 'Finance', labelFilter: 'finance' };
const minimal = { fessBaseUrl: 'http://localhost:8080/fess', domain };

function read(t: TestContext, content: object, env: Record<string, string> = {}) {
  const home = makeFolder(t);
  mkdirSync(join(home, '.mcp-feiss'));
  writeFileSync(join(home, '.mcp-feiss', 'config.json'), JSON.stringify(content));
  return readFessConfig({ ...env, HOME: home });
}

test('needs only two fields; the others have the defaults of 000 §4.1', (t) => {
  const { httpTransport, timeouts, limits, logging, security, contentFetch, fessApi } = read(t, minimal);
  assert.equal(fessApi, 'auto');
  assert.deepEqual(httpTransport, { bindAddress: '127.0.0.1', port: 0, path: '/mcp', enableSse: true });
  assert.deepEqual(timeouts, { fessRequestTimeoutMs: 30_000, longRunningThresholdMs: 2000 });
  assert.deepEqual(limits, { maxPageSize: 100, maxChunkBytes: 262_144, maxInFlightRequests: 32 });
  assert.deepEqual(logging, { level: 'info', retainDays: 7 });
  assert.deepEqual(security, { allowNonLocalhostBind: false, allowNonlocalhostBind: false });
  const { userAgent, ...rest } = contentFetch;
  assert.match(userAgent, /^carrel\/\d/);
  assert.deepEqual(rest, {
    enabled: true,
    maxBytes: 5 * 1024 * 1024,
    timeoutMs: 20_000,
    allowedSchemes: ['http', 'https'],
    allowPrivateNetworkTargets: false,
    allowedHostAllowlist: [],
    enablePdf: false,
    viaFess: false,
  });
});

test('tokens are secrets, and a password in the URL is redacted', (t) => {
  const config = read(t, {
    ...minimal,
    fessBaseUrl: 'http://me:hunter2hunter2@localhost',
    fessAccessToken: 'abcdefgh',
    security: { httpAuthToken: 'ijklmnop' },
  });
  assert.ok(config.fessAccessToken instanceof Secret && config.security.httpAuthToken instanceof Secret);
  assert.equal(scrubSecrets('hunter2hunter2 abcdefgh ijklmnop'), '[secret] [secret] [secret]');
});

test('the access token in the environment overrides the file, and is validated too', (t) => {
  const content = { ...minimal, fessAccessToken: 'from-the-file' };
  const token = (env: Record<string, string>) => read(t, content, env).fessAccessToken?.reveal();
  assert.equal(token({}), 'from-the-file');
  assert.equal(token({ FESS_ACCESS_TOKEN: ' ' }), 'from-the-file');
  assert.equal(token({ FESS_ACCESS_TOKEN: 'from-the-environment\n' }), 'from-the-environment');
  assert.throws(() => token({ FESS_ACCESS_TOKEN: 'two words' }), { message: /^FESS_ACCESS_TOKEN must be printable/ });
});

test('removes invisible and direction-changing characters from a domain, with a warning', (t) => {
  const dirty = { ...domain, id: 'fin\u200bance', name: 'Fi\u202enance\u3164', description: 'a\u{e0041}b\u2066c 👩‍💻' };
  const { knowledgeDomains, warnings } = read(t, { ...minimal, domain: dirty });
  const [{ id, slug, name, description, block } = { block: '' }] = knowledgeDomains;
  assert.deepEqual([id, slug, name, description], ['finance', 'finance', 'Finance', 'abc 👩‍💻']);
  assert.match(block, /^\[Knowledge Domain\]\nid: finance\nname: Finance\ndescription: abc 👩‍💻\nfessLabel: finance$/);
  assert.equal(warnings.filter((warning) => warning.includes('invisible')).length, 3);
  assert.throws(
    () => read(t, { ...minimal, domain: { ...domain, name: '\u200b\u202e' } }),
    /domain\.name must be 1 to 200/,
  );
  assert.throws(
    () => read(t, { ...minimal, domain: { ...domain, name: 'a\u2028b' } }),
    /domain\.name must be 1 to 200/,
  );
  assert.deepEqual(read(t, minimal).warnings, []);
});

test('domain ids become tool names; conflicting or too long ids are errors (contract §4)', (t) => {
  const { knowledgeDomains } = read(t, { ...minimal, domains: [{ ...domain, id: 'Büro-2' }] });
  assert.deepEqual(
    knowledgeDomains.map(({ id, slug }) => [id, slug]),
    [
      ['finance', 'finance'],
      ['Büro-2', 'b_ro_2'],
    ],
  );
  assert.throws(() => read(t, { ...minimal, domains: [{ ...domain, id: 'FINANCE' }] }), /result in the same tool name/);
  assert.throws(() => read(t, { ...minimal, domain: { ...domain, id: 'x'.repeat(46) } }), /at most 45 characters/);
});

test('warns about unknown keys at any depth, with their path', (t) => {
  const { warnings } = read(t, {
    ...minimal,
    limit: {},
    limits: { maxpagesize: 1 },
    domains: [{ ...domain, id: 'b', x: 1 }],
  });
  assert.deepEqual(
    warnings.map((warning) => /: (\S+) is not a setting$/.exec(warning)?.[1]),
    ['limit', 'limits.maxpagesize', 'domains[0].x'],
  );
});

test('returns undefined if the home folder has no configuration file', () => {
  assert.equal(findFessConfig({ HOME: '/nonexistent' }), undefined);
  assert.throws(() => readFessConfig({ HOME: '/nonexistent' }), {
    code: 'invalid_config',
    message: /config\.json is missing: expected at \/nonexistent\/\.mcp-feiss\/config\.json/,
  });
});
