import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { fullRights } from '../base/rights.ts';
import { Secret } from '../base/secret.ts';
import { createGuards, type GuardOptions, isLoopbackHost } from './guards.ts';

const base: GuardOptions = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [], tokens: {} };
let guards = createGuards(base);
const server = createServer(async (incoming, response) => {
  const access = await guards.checkToken(incoming);
  const refusal = guards.checkSite(incoming) ?? ('status' in access ? access : undefined);
  response.writeHead(refusal?.status ?? 200, refusal?.headers);
  response.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
after(() => server.close());

async function status(headers: Record<string, string | string[]>): Promise<number> {
  const outgoing = request({ host: '127.0.0.1', port, headers, setHost: false, agent: false });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  return response.statusCode;
}

async function rawStatus(head: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.end(head);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part);
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(Buffer.concat(parts).toString('latin1'))?.[1]);
}

test("accepts only this machine's names as Host, with any port (T021, T023)", async () => {
  guards = createGuards({ ...base, allowedHosts: ['Kb.Internal'] });
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', `127.0.0.1:${port}`, '[::1]:80', 'kb.internal:9']) {
    assert.equal(await status({ host }), 200, host);
  }
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '10.0.0.5',
    'localhost.',
    'localhost.evil.example',
    'a@localhost',
    '',
  ]) {
    assert.equal(await status({ host }), 403, host);
  }
});

test('two Host headers are a bad request, even if both are ours (RFC 9112 §3.2)', async () => {
  guards = createGuards(base);
  const own = `127.0.0.1:${port}`;
  for (const hosts of [
    [own, own],
    [own, 'evil.example'],
    ['evil.example', own],
  ]) {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
    assert.equal(await rawStatus(`GET / HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`), 400, String(hosts));
  }
});

test('off loopback, accepts an address as Host but not an unknown name', async () => {
  guards = createGuards({ ...base, host: '0.0.0.0' });
  assert.equal(await status({ host: '10.1.2.3:80' }), 200);
  assert.equal(await status({ host: 'evil.example' }), 403);
});

test('an Origin must be our own or on the list (T024, T025)', async () => {
  guards = createGuards({ ...base, allowedOrigins: ['https://app.example'] });
  const host = `localhost:${port}`;
  assert.equal(await status({ host }), 200);
  assert.equal(await status({ host, origin: `http://localhost:${port}` }), 200);
  assert.equal(await status({ host, origin: 'https://app.example' }), 200);
  const otherOrigins = [
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
    'https://localhost:1',
    'file://',
    'chrome-extension://x',
  ];
  for (const origin of otherOrigins) assert.equal(await status({ host, origin }), 403, origin);
  assert.equal(await status({ host, origin: [`http://localhost:${port}`, 'http://evil.example'] }), 403);
});

test('pages under an allowed name may call, with any port and TLS (KB_MCP_ALLOWED_HOSTS)', async () => {
  guards = createGuards({ ...base, allowedHosts: ['Kb.Internal'] });
  for (const origin of ['http://kb.internal', 'https://KB.internal', 'https://kb.internal:8443']) {
    assert.equal(await status({ host: 'kb.internal', origin }), 200, origin);
    assert.equal(await status({ host: `localhost:${port}`, origin }), 200, origin);
  }
  const otherOrigins = [
    ...['https://kb.internal.evil.example', 'https://evil.example', 'https://a@kb.internal', 'ftp://kb.internal'],
    ...['https://kb.internal/path', 'https://localhost', 'kb.internal', ''],
  ];
  for (const origin of otherOrigins) assert.equal(await status({ host: 'kb.internal', origin }), 403, origin);
});

test('accepts only the exact token, in a single Authorization header (T050, T051, T052)', async () => {
  guards = createGuards({ ...base, tokens: { main: new Secret('correct-token') } });
  const host = 'localhost';
  for (const authorization of ['Bearer correct-token', 'bearer correct-token', 'BEARER correct-token']) {
    assert.equal(await status({ host, authorization }), 200, authorization);
  }
  const wrong = [
    'Bearer ',
    'Bearer  correct-token',
    'Basic correct-token',
    'Bearer correct-token extra',
    'Bearer correct-toke',
    'Bearer correct-token1',
    'correct-token',
    'Bearer correct-token,Bearer x',
  ];
  for (const authorization of wrong) assert.equal(await status({ host, authorization }), 401, authorization);
  assert.equal(await status({ host }), 401);
  assert.equal(await status({ host, authorization: ['Bearer correct-token', 'Bearer x'] }), 401);
  assert.equal(await status({ host, cookie: 'token=correct-token', 'x-api-key': 'correct-token' }), 401);
});

test('after too many wrong tokens, an address may only use unguessable ones (T054)', async () => {
  const named = { name: 'n', identity: 'token 1', rights: fullRights };
  const authority = {
    isRequired: async () => true,
    identify: async (token: string) => (token === 'carrel_named' ? named : undefined),
    areValid: async () => [],
  };
  guards = createGuards({ ...base, tokens: { main: new Secret('correct-token') }, authorities: [authority] });
  const seen = new Map<number, number>();
  for (let index = 0; index < 60; index += 1) {
    const code = await status({ host: 'localhost', authorization: `Bearer guess${index}` });
    seen.set(code, (seen.get(code) ?? 0) + 1);
  }
  assert.deepEqual([seen.get(401), seen.get(429), seen.get(200)], [30, 30, undefined]);
  const host = 'localhost';
  assert.equal(await status({ host, authorization: 'Bearer correct-token' }), 429);
  assert.equal(await status({ host, authorization: 'Bearer carrel_named' }), 200);
  const typed = (token: string, remoteAddress: string) =>
    guards.checkTyped(token, { socket: { remoteAddress } } as IncomingMessage);
  for (const token of ['correct-token', 'carrel_named']) {
    const access = await typed(token, '127.0.0.1');
    assert.equal('status' in access && access.status, 429, token);
  }
  assert.ok('principal' in (await typed('correct-token', '10.0.0.9')), 'another address is not affected');
});

test('anything not certainly loopback counts as exposed (T020)', () => {
  for (const host of ['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1', '[::1]'])
    assert.equal(isLoopbackHost(host), true, host);
  for (const host of ['0.0.0.0', '::', '0', '127.1', '::ffff:0.0.0.0', '10.0.0.1', 'my-machine', '127.0.0.1.evil']) {
    assert.equal(isLoopbackHost(host), false, host);
  }
});
