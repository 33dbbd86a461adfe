import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { createOAuthAuthority } from './oauth-authority.ts';

/** RFC 6750 §3.1: `invalid_token` means that the token is wrong, and clients discard it. */
test("fails while the issuer's keys are unavailable", async () => {
  const [issuer, audience] = ['http://127.0.0.1:1', 'https://carrel.example/mcp'];
  const config = { issuer, audience, jwksUrl: `${issuer}/keys`, scopes: [{ scope: 'carrel', rights: {} }] };
  const authority = createOAuthAuthority(config, silentLogger);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: issuer, aud: audience, exp: 4_000_000_000, scope: 'carrel' };
  await assert.rejects(authority.identify(`${encode({ alg: 'ES256', kid: 'a' })}.${encode(claims)}.AAAA`), {
    name: 'KeysUnavailable',
  });
  assert.equal(await authority.identify('a.b.c'), undefined);
});
