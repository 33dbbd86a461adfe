import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { type OAuthIssuer, startOAuthIssuer } from '../../fakes/oauth-issuer.ts';
import { carrelProgram, type ListeningProgram, runCarrel, startListening } from '../../support/child-program.ts';
import { exchange, openSession, post } from '../../support/raw-http.ts';
import { initializeParams } from '../../support/stdio-client.ts';

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams('2025-11-25') };
const audience = 'https://carrel.example/mcp';

describe('access tokens of the operator’s issuer (OAuth 2.1, RFC 9728)', () => {
  let issuer: OAuthIssuer;
  let program: ListeningProgram;
  let dataDir: string;
  const kids: Record<string, string> = {};
  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'carrel-test-'));
    issuer = await startOAuthIssuer(() => audience);
    for (const algorithm of ['RS256', 'ES256', 'EdDSA']) kids[algorithm] = (await issuer.addKey(algorithm)).kid;
    program = await startListening(carrelProgram, ['serve', '--data-dir', dataDir, '--debug'], {
      EMBEDDING_PROVIDER: 'none',
      CARREL_OAUTH_ISSUER: issuer.url,
      CARREL_OAUTH_AUDIENCE: audience,
      CARREL_OAUTH_SCOPES: 'carrel:read=read-only toolsets:kb+find collections:papers, carrel',
    });
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
    await issuer.stop().catch(() => {});
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });

  const open = (token: string) => post(program.url, initialize, { authorization: `Bearer ${token}` });
  const statusOf = async (token: string): Promise<number> => (await open(token)).status;
  const key = (algorithm: string): string => kids[algorithm] ?? '';

  it('tells callers without a token where to get one', async () => {
    const { status, headers } = await post(program.url, initialize);
    assert.equal(status, 401);
    const place = 'https://carrel.example/.well-known/oauth-protected-resource/mcp';
    assert.equal(headers['www-authenticate'], `Bearer resource_metadata="${place}"`);
    for (const path of ['', '/mcp']) {
      const url = new URL(`/.well-known/oauth-protected-resource${path}`, program.url).href;
      const { status: found, text } = await exchange(url, { method: 'GET' });
      assert.equal(found, 200);
      assert.deepEqual(JSON.parse(text), {
        resource: audience,
        authorization_servers: [issuer.url],
        scopes_supported: ['carrel:read', 'carrel'],
        bearer_methods_supported: ['header'],
        resource_name: 'Carrel',
      });
    }
  });

  it('tokens that the issuer signed with RS256, ES256 or EdDSA are accepted', async () => {
    for (const algorithm of Object.keys(kids)) {
      assert.equal(await statusOf(await issuer.issue(key(algorithm))), 200, algorithm);
    }
    assert.equal(await statusOf(await issuer.issue(key('ES256'), { aud: ['https://other.example', audience] })), 200);
    const fetched = issuer.requests.filter((path) => path === '/keys').length;
    assert.equal(fetched, 1);
  });

  it('rejects a wrong issuer, audience, time, signature, algorithm or key', async () => {
    const now = Math.floor(Date.now() / 1000);
    const faults: Record<string, unknown>[] = [
      { iss: 'https://evil.example' },
      { aud: 'https://other.example' },
      { aud: undefined },
      { exp: now - 120 },
      { exp: undefined },
      { nbf: now + 600 },
    ];
    for (const claims of faults) {
      const { status, headers } = await open(await issuer.issue(key('ES256'), claims));
      assert.equal(status, 401, JSON.stringify(claims));
      assert.match(String(headers['www-authenticate']), /^Bearer error="invalid_token", resource_metadata=/);
    }
    const good = await issuer.issue(key('RS256'));
    const [head = '', body = '', signature = ''] = good.split('.');
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const none = encode({ alg: 'none', typ: 'JWT' });
    const shared = encode({ alg: 'HS256', kid: key('RS256') });
    const { keys } = JSON.parse((await exchange(`${issuer.url}/keys`, { method: 'GET' })).text);
    const mac = createHmac('sha256', JSON.stringify(keys[0])).update(`${shared}.${body}`).digest('base64url');
    const forged = [
      `${head}.${encode({ ...claims, scope: 'carrel', sub: 'admin' })}.${signature}`,
      `${none}.${body}.`,
      `${none}.${body}.x`,
      `${shared}.${body}.${mac}`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      good.slice(0, -1),
      'a.b.c',
    ];
    for (const token of forged) assert.equal(await statusOf(token), 401, token);
  });

  it("a token's first listed scope decides its rights; without one it has none", async () => {
    const names = async (token: string): Promise<string> => {
      const session = await openSession(program.url, '2025-11-25', { headers: { authorization: `Bearer ${token}` } });
      return (await session.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).text;
    };
    const all = await names(await issuer.issue(key('ES256')));
    assert.ok(all.includes('store_context') && all.includes('kb_delete'));
    const some = await names(
      await issuer.issue(key('ES256'), { scope: 'carrel carrel:read', sub: 'reader@example.org' }),
    );
    assert.ok(some.includes('kb_search') && !some.includes('store_context') && !some.includes('kb_delete'));
    const { status, headers } = await open(await issuer.issue(key('ES256'), { scope: 'openid' }));
    assert.equal(status, 403);
    assert.match(String(headers['www-authenticate']), /error="insufficient_scope"/);
  });

  it('finds new keys of the issuer, limits lookups of made-up keys, and keeps known keys when it is gone', async () => {
    const before = issuer.requests.length;
    const { kid } = await issuer.addKey('ES256');
    assert.equal(await statusOf(await issuer.issue(kid)), 200);
    assert.equal(issuer.requests.length, before + 2);
    const { kid: unpublished } = await issuer.addKey('ES256', false);
    for (let round = 0; round < 5; round += 1) assert.equal(await statusOf(await issuer.issue(unpublished)), 401);
    assert.equal(issuer.requests.length, before + 2);
    await issuer.stop();
    assert.equal(await statusOf(await issuer.issue(kid)), 200);
  });

  it('never logs tokens', () => {
    const log = readFileSync(join(dataDir, 'log', 'carrel.log'), 'utf8');
    assert.doesNotMatch(`${log}${program.stderrText()}`, /eyJ[\w-]+\./);
  });
});

test('an issuer without audience, scopes or sensible rights stops the start (exit 78)', async (t) => {
  const issuer = { CARREL_OAUTH_ISSUER: 'https://issuer.example' };
  const faults: [Record<string, string>, RegExp][] = [
    [issuer, /CARREL_OAUTH_AUDIENCE/],
    [{ ...issuer, CARREL_OAUTH_AUDIENCE: audience }, /CARREL_OAUTH_SCOPES/],
    [
      { ...issuer, CARREL_OAUTH_AUDIENCE: audience, CARREL_OAUTH_SCOPES: 'a=toolsets:nothing' },
      /oauth\.scopes.*nothing/,
    ],
  ];
  for (const [env, message] of faults) {
    const { code, stderr } = await runCarrel(t, ['serve', '--transport', 'http', '--port', '0'], { env });
    assert.equal(code, 78, stderr);
    assert.match(stderr, message);
  }
});
