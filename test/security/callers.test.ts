import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createOAuthAuthority } from '../../src/access/oauth/oauth-authority.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { Principal } from '../../src/base/rights.ts';
import { createSignIns } from '../../src/console/sign-in.ts';
import { callerKey, callerOf } from '../../src/mcp/http/visitor.ts';
import { startOAuthIssuer } from '../fakes/oauth-issuer.ts';

// Quotas, sessions, uploads and tasks belong to an identity that no two callers share.

test('OAuth tokens count as one caller only for the same issuer, kind and subject', async (t) => {
  const audience = 'https://carrel.example/mcp';
  const issuer = await startOAuthIssuer(() => audience);
  t.after(() => issuer.stop());
  const { kid } = await issuer.addKey('ES256');
  const scopes = [{ scope: 'carrel', rights: {} }];
  const authority = createOAuthAuthority({ issuer: issuer.url, audience, jwksUrl: undefined, scopes }, silentLogger);
  const identityOf = async (claims: Record<string, unknown>): Promise<string> => {
    const found = await authority.identify(await issuer.issue(kid, claims));
    assert.ok(typeof found === 'object', JSON.stringify(claims));
    return found.identity;
  };
  const callers = [
    { sub: 'somebody' },
    { sub: undefined, client_id: 'somebody' },
    { sub: '', client_id: '' },
    { sub: undefined, jti: '1' },
    { sub: undefined, jti: '2' },
    { sub: 'two words' },
    { sub: 'two  words' },
    { sub: `${'x'.repeat(500)}1` },
    { sub: `${'x'.repeat(500)}2` },
  ];
  const identities = await Promise.all(callers.map(identityOf));
  assert.equal(new Set(identities).size, callers.length, identities.join('\n'));
  assert.equal(await identityOf({ sub: 'two words', iat: 1 }), identities[5]);
});

function principal(identity: string, more: Partial<Principal> = {}): Principal {
  return { name: 'reader', identity, rights: {}, ...more };
}

test('a token recreated under an old name is another caller', () => {
  const visitor = (identity: string) => ({ principal: principal(identity), address: '127.0.0.1', host: 'localhost' });
  const [former, present] = [visitor('token 1'), visitor('token 2')];
  assert.notEqual(callerKey(former), callerKey(present));
  assert.notEqual(callerOf(former).id, callerOf(present).id);
  assert.notEqual(callerOf(former).owner, callerOf(present).owner);
});

test("a token that signs in to the console repeatedly ends nobody else's session", () => {
  const signIns = createSignIns();
  const open = (identity: string) => {
    const { cookie, base } = signIns.open(from(''), principal(identity), false);
    return () => signIns.find(from(cookie.split(';', 1)[0] ?? ''), base);
  };
  const [others, first] = [open('token 1'), open('token 2')];
  let last = first;
  for (let count = 0; count < 2_000; count += 1) last = open('token 2');
  assert.equal(others()?.identity, 'token 1');
  assert.equal(last()?.identity, 'token 2');
  assert.equal(first(), undefined);
});

test('a cookie planted by another port under the same name signs nobody in', () => {
  const signIns = createSignIns();
  const open = (identity: string, isSecure = false) => {
    const { cookie, base } = signIns.open(from(''), principal(identity), isSecure);
    return { cookie: cookie.split(';', 1)[0] ?? '', base };
  };
  const [own, planted] = [open('token 1'), open('token 2')];
  assert.equal(signIns.find(from(own.cookie), own.base)?.identity, 'token 1');
  for (const both of [
    `${planted.cookie}; ${own.cookie}`,
    `${own.cookie}; ${planted.cookie}`,
    `other=1; ${own.cookie}; ${own.cookie}`,
  ]) {
    assert.equal(signIns.find(from(both), own.base), undefined, both);
  }
  for (const base of ['', planted.base]) assert.equal(signIns.find(from(own.cookie), base), undefined, base);
  const [name] = own.cookie.split('=');
  assert.doesNotMatch(createSignIns().open(from(''), principal('t'), false).cookie, new RegExp(`^${name}=`));
  const secure = open('token 1', true);
  assert.match(secure.cookie, /^__Host-/);
  assert.equal(secure.base, '');
  assert.equal(signIns.find(from(secure.cookie), '')?.identity, 'token 1');
  assert.match(signIns.close(from(secure.cookie), ''), /^__Host-\w+=; Path=\/; .*Secure; Max-Age=0$/);
  assert.equal(signIns.find(from(secure.cookie), ''), undefined);
});

function from(cookie: string): IncomingMessage {
  return { headers: { host: '127.0.0.1:8737', cookie } } as IncomingMessage;
}
