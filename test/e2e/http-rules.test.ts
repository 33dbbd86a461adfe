import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import {
  exchange,
  jsonHeaders,
  modernRequest,
  openSession,
  post,
  type RawAnswer,
  type RawRequest,
} from '../support/raw-http.ts';
import { sendRaw, statusOf } from '../support/raw-socket.ts';
import { initializeParams } from '../support/stdio-client.ts';

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams('2025-11-25') };

describe('HTTP rules (contract §2)', () => {
  let program: ListeningProgram;
  let guarded: ListeningProgram;
  let port: string;
  before(async () => {
    [program, guarded] = await Promise.all([
      startListening(echoProgram),
      startListening(echoProgram, ['--token', 'correct-horse']),
    ]);
    port = new URL(program.url).port;
  });
  after(() => Promise.all([program.stop(), guarded.stop()]));

  const initializeWith = (headers: Record<string, string | string[]>): Promise<RawAnswer> =>
    exchange(program.url, { headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(initialize) });

  for (const host of [
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '0.0.0.0',
  ]) {
    it(`T021: rejects the Host ${host}`, async () => {
      assert.equal((await initializeWith({ host: host.replace('PORT', port) })).status, 403);
    });
  }

  for (const host of ['LOCALHOST:PORT', 'localhost', '[::1]:PORT', '127.0.0.1:PORT']) {
    it(`T023: the Host ${host} is served`, async () => {
      assert.equal((await initializeWith({ host: host.replace('PORT', port) })).status, 200);
    });
  }

  it('T023: rejects localhost with a trailing dot: no genuine client writes it', async () => {
    assert.equal((await initializeWith({ host: `localhost.:${port}` })).status, 403);
  });

  const foreignOrigins = [
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil',
    'https://localhost:1',
    'http://localhost',
    'file://',
    'chrome-extension://x',
    '',
  ];
  for (const origin of foreignOrigins) {
    it(`T024: rejects the Origin ${origin || '(empty)'}`, async () => {
      assert.equal((await initializeWith({ origin })).status, 403);
    });
  }

  it('T024: rejects two Origins, even two of ours', async () => {
    const own = `http://127.0.0.1:${port}`;
    for (const second of ['http://evil.example', own]) {
      const lines = ['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${port}`, `Origin: ${own}`, `Origin: ${second}`];
      const answer = await sendRaw(
        program.url,
        `${lines.join('\r\n')}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      assert.equal(statusOf(answer), 403);
    }
  });

  it('T024, T025: its own Origin, an allowed one and none at all are served', async () => {
    for (const headers of [{ origin: `http://127.0.0.1:${port}` }, { origin: 'http://allowed.example' }, {}]) {
      assert.equal((await initializeWith({ host: `127.0.0.1:${port}`, ...headers })).status, 200);
    }
  });

  for (const method of ['GET', 'DELETE', 'OPTIONS', 'POST', 'PUT']) {
    for (const path of ['/mcp', '/health', '/.well-known/oauth-protected-resource', '/nothing']) {
      it(`T026: ${method} ${path} refuses foreign sites, also with a valid token, and shares with no origin`, async () => {
        const authorization = 'Bearer correct-horse';
        const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
        for (const foreign of [{ host: 'evil.example' }, { origin: 'http://evil.example', ...preflight }]) {
          const answer = await exchange(String(new URL(path, guarded.url)), {
            method,
            headers: { ...jsonHeaders, authorization, ...foreign },
          });
          assert.equal(answer.status, 403);
          assert.deepEqual(
            Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')),
            [],
          );
        }
      });
    }
  }

  const wrongTypes = [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json\ta',
    'application/json garbage',
    'application/jsonx',
    'application/json; charset=utf-16',
    'application/json, text/plain',
  ];
  for (const type of wrongTypes) {
    it(`T027: rejects the content type ${JSON.stringify(type)}`, async () => {
      const headers = { accept: jsonHeaders.accept, ...(type === undefined ? {} : { 'content-type': type }) };
      const answer = await exchange(program.url, { headers, body: JSON.stringify(initialize) });
      assert.equal(answer.status, 415);
    });
  }

  for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset=UTF-8']) {
    it(`T027: accepts the content type ${type}`, async () => {
      assert.equal((await initializeWith({ 'content-type': type })).status, 200);
    });
  }

  const accepts: [string | undefined, number, string?][] = [
    [undefined, 200, 'application/json'],
    ['*/*', 200, 'application/json'],
    ['application/json', 200, 'application/json'],
    ['text/event-stream', 200, 'text/event-stream'],
    ['application/json, text/event-stream', 200, 'application/json'],
    ['text/html', 406],
  ];
  for (const [accept, status, type] of accepts) {
    it(`T028: Accept ${accept ?? '(none)'} gets ${status}`, async () => {
      const headers = { 'content-type': 'application/json', ...(accept === undefined ? {} : { accept }) };
      const answer = await exchange(program.url, { headers, body: JSON.stringify(initialize) });
      assert.equal(answer.status, status);
      if (type !== undefined) assert.equal(answer.headers['content-type'], type);
      if (status === 200) assert.equal(answer.messages[0]?.result?.['protocolVersion'], '2025-11-25');
    });
  }

  const echo = modernRequest('tools/call', { name: 'echo', arguments: { text: 'x' } });
  const modernCases: [string, Record<string, string | undefined>, number, number | undefined][] = [
    ['complete headers', {}, 200, undefined],
    ['no Mcp-Method', { 'mcp-method': undefined }, 400, -32_020],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, 400, -32_020],
    ['an Mcp-Method in other letters', { 'mcp-method': 'TOOLS/CALL' }, 400, -32_020],
    ['no Mcp-Name', { 'mcp-name': undefined }, 400, -32_020],
    ['another Mcp-Name', { 'mcp-name': 'slow' }, 400, -32_020],
    ['the name in Base64', { 'mcp-name': sentinel('echo') }, 200, undefined],
    ['another name in Base64', { 'mcp-name': sentinel('slow') }, 400, -32_020],
    ['line breaks in Base64', { 'mcp-name': sentinel('echo\r\nx: y') }, 400, -32_020],
    ['broken Base64', { 'mcp-name': '=?base64?ZWNobw?=' }, 400, -32_020],
    ['the mark of Base64 in other letters', { 'mcp-name': sentinel('echo').replace('base64', 'BASE64') }, 400, -32_020],
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }, 400, -32_020],
    ['an MCP-Protocol-Version that the body contradicts', { 'mcp-protocol-version': '2025-11-25' }, 400, -32_020],
  ];
  for (const [name, change, status, code] of modernCases) {
    it(`T029, T030: 2026-07-28 with ${name}: ${status}`, async () => {
      const headers: Record<string, string> = {};
      for (const [key, value] of Object.entries({ ...echo.headers, ...change }))
        if (value !== undefined) headers[key] = value;
      const answer = await exchange(program.url, { headers, body: JSON.stringify(echo.message) });
      assert.equal(answer.messages[0]?.error?.code, code);
      assert.equal(answer.status, status);
    });
  }

  it('T030: rejects unknown or duplicate MCP-Protocol-Version headers in a session', async () => {
    const session = await openSession(program.url);
    for (const version of ['1999-01-01', '2025-11-25, 2025-06-18']) {
      const headers = { ...session.headers, 'mcp-protocol-version': version };
      assert.equal((await post(program.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, headers)).status, 400);
    }
    const { 'mcp-protocol-version': _left, ...without } = session.headers;
    assert.equal((await post(program.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, without)).status, 200);
  });

  for (const method of ['PUT', 'PATCH', 'TRACE', 'HEAD', 'OPTIONS', 'PROPFIND']) {
    it(`T033: ${method} is not allowed`, async () => {
      const answer = await exchange(program.url, { method, headers: { 'x-secret': 'echo-me' } });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers['allow'], 'POST, GET, DELETE');
      assert.doesNotMatch(answer.text, /echo-me/);
    });
  }

  it('T033: CONNECT gets nothing, and a made-up method is a bad request', async () => {
    assert.equal(await sendRaw(program.url, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n'), '');
    const head = 'GARBAGE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n';
    assert.equal(statusOf(await sendRaw(program.url, head)), 400);
  });

  const malformed: [string, string | Buffer, number[]][] = [
    ['a request line of 1 MB', `GET /${'x'.repeat(1_000_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, [431, 400]],
    ['a header of 64 KB', `GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`, [431]],
    [
      '2,000 headers of some length',
      `GET /mcp HTTP/1.1\r\nHost: localhost\r\n${'X-Y: 0123456789\r\n'.repeat(2000)}\r\n`,
      [431],
    ],
    ['NUL in a header', 'GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n', [400]],
    ['a bare CR in a header', 'GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n', [400]],
    ['no Host', 'GET /mcp HTTP/1.1\r\n\r\n', [400]],
    ['an empty Host', 'GET /mcp HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', [400, 403]],
    ['HTTP/0.9', 'GET /mcp\r\n\r\n', [400, 403, 0]],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 0]],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex'), [400, 0]],
    [
      'both Content-Length and chunks',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
  ];
  for (const [name, bytes, statuses] of malformed) {
    it(`T045: rejects ${name}`, async () => {
      assert(statuses.includes(statusOf(await sendRaw(program.url, bytes))));
      assert.equal((await exchange(String(new URL('/health', program.url)), { method: 'GET' })).status, 200);
    });
  }

  it('T047: with a token set, the health report reveals nothing to strangers', async () => {
    const url = String(new URL('/health', guarded.url));
    const stranger = await exchange(url, { method: 'GET' });
    assert.deepEqual(JSON.parse(stranger.text), { status: 'ok' });
    const known = await exchange(url, { method: 'GET', headers: { authorization: 'Bearer correct-horse' } });
    assert.deepEqual(JSON.parse(known.text), { status: 'ok', version: '1.0.0' });
    const probe = await exchange(url, { method: 'HEAD' });
    assert.deepEqual([probe.status, probe.text], [200, '']);
  });

  it('T048: every answer forbids caching and guessing, and names no software', async () => {
    const session = await openSession(program.url);
    const listing = modernRequest('tools/list');
    const unknown = modernRequest('no/such');
    const asked: [number, string, RawRequest][] = [
      [200, program.url, { headers: jsonHeaders, body: JSON.stringify(initialize) }],
      [200, program.url, { headers: listing.headers, body: JSON.stringify(listing.message) }],
      [404, program.url, { headers: unknown.headers, body: JSON.stringify(unknown.message) }],
      [
        200,
        program.url,
        { headers: { ...jsonHeaders, accept: 'text/event-stream' }, body: JSON.stringify(initialize) },
      ],
      [202, program.url, { headers: { ...jsonHeaders, ...session.headers }, body: '{"jsonrpc":"2.0","method":"n"}' }],
      [400, program.url, { headers: jsonHeaders, body: '{' }],
      [401, guarded.url, {}],
      [403, program.url, { headers: { host: 'evil.example' } }],
      [404, String(new URL('/nothing', program.url)), {}],
      [405, program.url, { method: 'PUT' }],
      [406, program.url, { method: 'GET', headers: session.headers }],
      [413, program.url, { headers: jsonHeaders, body: ' '.repeat(4 * 1024 * 1024 + 1) }],
      [415, program.url, {}],
      [415, program.url, { headers: { ...jsonHeaders, 'content-encoding': 'gzip' }, body: JSON.stringify(initialize) }],
      [200, String(new URL('/health', program.url)), { method: 'GET' }],
    ];
    for (const [status, url, request] of asked) {
      const { headers, ...answer } = await exchange(url, request);
      assert.equal(answer.status, status);
      assert.match(String(headers['cache-control']), /^no-store/, String(status));
      assert.equal(headers['x-content-type-options'], 'nosniff', String(status));
      for (const name of ['server', 'x-powered-by', 'access-control-allow-origin'])
        assert.equal(headers[name], undefined);
    }
  });
});

function sentinel(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
