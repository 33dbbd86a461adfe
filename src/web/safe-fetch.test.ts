import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from '../../test/fakes/certificate.ts';
import { serveHttp, serveTcp } from '../../test/fakes/loopback-server.ts';
import { CarrelError } from '../base/errors.ts';
import { createSafeFetch, type SafeFetch, type SafeFetchConfig } from './safe-fetch.ts';
import { parseTargetList } from './target-list.ts';

const text = new TextDecoder();

/** Allows loopback, so that the tests' servers can be reached; every other rule applies. */
function fetcher(config: SafeFetchConfig = {}): SafeFetch {
  return createSafeFetch({ allowPrivate: parseTargetList(['127.0.0.0/8']), ...config });
}

test('returns a page with its status, type, body and origin', async (t) => {
  const { origin } = await serveHttp(t, (request, response) => {
    response.writeHead(request.url === '/missing' ? 404 : 200, {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': 'a=b',
      'x-internal': '1',
    });
    response.end('<p>hello');
  });
  const answer = await fetcher()(`${origin}/a?b=c#d`);
  assert.equal(answer.status, 200);
  assert.equal(answer.url, `${origin}/a?b=c`);
  assert.equal(answer.contentType, 'text/html; charset=utf-8');
  assert.equal(text.decode(answer.body), '<p>hello');
  assert.deepEqual([answer.redirects, answer.fromCache, answer.isDowngraded], [[], false, false]);
  assert.equal('set-cookie' in answer.headers || 'x-internal' in answer.headers, false);
  assert.equal((await fetcher()(`${origin}/missing`)).status, 404);
});

test('sends only the fixed headers, on a connection that is closed afterwards', async (t) => {
  let seen: IncomingHttpHeaders = {};
  const { origin, port } = await serveHttp(t, (request, response) => {
    seen = request.headers;
    response.end();
  });
  await fetcher({ userAgent: 'Probe/1' })(origin, { accept: 'text/html', acceptLanguage: 'de' });
  assert.deepEqual(seen, {
    host: `127.0.0.1:${port}`,
    'user-agent': 'Probe/1',
    accept: 'text/html',
    'accept-language': 'de',
    'accept-encoding': 'gzip, br, deflate',
    connection: 'close',
  });
});

test('rejects a header value with a line break before anything is sent (T080)', async (t) => {
  const { origin } = await serveHttp(t, () => assert.fail('a request arrived'));
  assert.throws(() => fetcher({ userAgent: 'a\r\nx: y' }), { code: 'invalid_config' });
  await assert.rejects(fetcher()(origin, { accept: 'a\nb' }), { code: 'invalid_arguments' });
});

test('ignores proxies from the environment (T070)', async (t) => {
  const { origin } = await serveHttp(t, (_request, response) => response.end('direct'));
  const proxy = await serveHttp(t, () => assert.fail('the proxy was asked'));
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
    setEnvironment(t, name, name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.origin);
  }
  assert.equal(text.decode((await fetcher()(origin)).body), 'direct');
});

test('resolves a name once and connects to the checked address (T069)', async (t) => {
  const { port } = await serveHttp(t, (request, response) => response.end(request.headers.host));
  const hosts: string[] = [];
  const lookup = async (host: string) => {
    hosts.push(host);
    return [{ address: hosts.length === 1 ? '127.0.0.1' : '169.254.169.254' }];
  };
  const safeFetch = createSafeFetch({ allowPrivate: parseTargetList([`pinned.example:${port}`]) }, { lookup });
  const answer = await safeFetch(`http://Pinned.example.:${port}/`);
  assert.equal(text.decode(answer.body), `pinned.example:${port}`);
  assert.deepEqual(hosts, ['pinned.example']);
  await assert.rejects(safeFetch(`http://pinned.example:${port}/`), { code: 'private_network_blocked' });
});

test('does not connect to a name with a private address among public ones (T068)', async () => {
  const lookup = async () => [{ address: '93.184.216.34' }, { address: '10.0.0.5' }];
  await assert.rejects(createSafeFetch({}, { lookup })('http://mixed.example/'), { code: 'private_network_blocked' });
});

test('does not connect to a name without a usable address', async () => {
  for (const addresses of [[], ['93.184.216.34', 'fe80::1%lo'], ['nonsense']]) {
    const lookup = async () => addresses.map((address) => ({ address }));
    await assert.rejects(createSafeFetch({}, { lookup })('http://odd.example/'), {
      code: 'fetch_failed',
      data: { host: 'odd.example', reason: 'name_not_found' },
    });
  }
});

test('tries the next address when one does not answer', async (t) => {
  const { port } = await serveHttp(t, (_request, response) => response.end('second'));
  const lookup = async () => [{ address: '127.0.0.2' }, { address: '127.0.0.1' }];
  const safeFetch = createSafeFetch({ allowPrivate: parseTargetList(['127.0.0.0/8']) }, { lookup });
  assert.equal(text.decode((await safeFetch(`http://two.example:${port}/`)).body), 'second');
});

test('follows redirects of every kind and reports them', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const { origin, port } = await serveHttp(t, (request, response) => {
      const next: Record<string, string> = { '/1': 'sub/2', '/sub/2': `//127.0.0.1:${port}/3`, '/3': '?q=ü' };
      const location = next[request.url ?? ''];
      if (location) response.writeHead(status, { location: Buffer.from(location).toString('latin1') });
      response.end(request.url);
    });
    const answer = await fetcher()(`${origin}/1`);
    assert.deepEqual(answer.redirects, [`${origin}/1`, `${origin}/sub/2`, `${origin}/3`]);
    assert.equal(answer.url, `${origin}/3?q=%C3%BC`);
  }
});

test('follows five redirects and rejects the sixth, loops included (T072)', async (t) => {
  const { origin } = await serveHttp(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left > 0) response.writeHead(302, { location: `/${left - 1}` });
    if (request.url === '/loop') response.writeHead(302, { location: '/loop' });
    response.end('done');
  });
  assert.equal((await fetcher()(`${origin}/5`)).redirects.length, 5);
  await assert.rejects(fetcher()(`${origin}/6`), { code: 'too_many_redirects' });
  await assert.rejects(fetcher()(`${origin}/loop`), { code: 'too_many_redirects' });
});

test('checks each redirect against every rule (T071, T073)', async (t) => {
  const cases: [location: string, code: string][] = [
    ['http://169.254.169.254/latest/', 'private_network_blocked'],
    ['http://10.0.0.5/', 'private_network_blocked'],
    ['//[::1]/', 'private_network_blocked'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['http://user:secret@127.0.0.1/', 'credentials_in_url'],
    ['http://127.0.0.1:22/', 'port_not_allowed'],
    ['http://[', 'fetch_failed'],
  ];
  for (const [location, code] of cases) {
    const { origin } = await serveHttp(t, (_request, response) => response.writeHead(302, { location }).end());
    await assert.rejects(fetcher()(origin), { code }, location);
  }
  const { origin, port } = await serveHttp(t, (_request, response) => {
    response.writeHead(302, { location: `http://localhost:${port}/` }).end();
  });
  const restricted = fetcher({ onlyHosts: parseTargetList([`127.0.0.1:${port}`]), allowPrivateNetworks: true });
  await assert.rejects(restricted(origin), (error: CarrelError) => {
    return error.code === 'host_not_allowed' && error.message.startsWith('The site redirects');
  });
});

test('a redirect without a Location, a Refresh header and other 3xx are ordinary answers', async (t) => {
  const { origin } = await serveHttp(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    response.writeHead(status, status === 302 ? {} : { location: '/elsewhere', refresh: '0; url=/elsewhere' }).end();
  });
  for (const status of [200, 300, 302, 304]) assert.equal((await fetcher()(`${origin}/${status}`)).status, status);
});

test('sends validators only to their own URL', async (t) => {
  const seen: Record<string, string | undefined> = {};
  const { origin } = await serveHttp(t, (request, response) => {
    seen[request.url ?? ''] = request.headers['if-none-match'];
    if (request.url === '/a') response.writeHead(302, { location: '/b' });
    response.end();
  });
  await fetcher()(`${origin}/a`, { validatorsFor: (url) => (url === `${origin}/b` ? { etag: '"b"' } : undefined) });
  assert.deepEqual(seen, { '/a': undefined, '/b': '"b"' });
});

test('cuts off an endless body and closes its connection (T082)', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { origin } = await serveHttp(t, (_request, response) => {
    response.on('close', closed.resolve);
    pour(response);
  });
  await assert.rejects(fetcher({ bytesMax: 100_000 })(origin), { code: 'too_large' });
  await closed.promise;
});

test('a dripping body runs into the overall timeout (T082)', async (t) => {
  const { origin } = await serveHttp(t, (_request, response) => drip(t, response));
  await assert.rejects(fetcher()(origin, { timeoutMs: 200 }), { code: 'fetch_timeout', kind: 'timeout' });
});

test('does not take a broken connection for the end of a body (T082)', async (t) => {
  let connection: Socket | undefined;
  const { origin } = await serveTcp(t, (socket) => {
    connection = socket;
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it'));
  });
  await assert.rejects(fetcher()(origin, { timeoutMs: 200 }), { code: 'fetch_timeout' });
  const caller = new AbortController();
  const cancelled = fetcher()(origin, { signal: caller.signal, inspectHead: () => caller.abort() });
  await assert.rejects(cancelled, { code: 'cancelled' });
  const reset = fetcher()(origin, { inspectHead: () => void connection?.resetAndDestroy() });
  await assert.rejects(reset, { code: 'fetch_failed', data: { host: '127.0.0.1', reason: 'no_answer' } });
});

test('accepts a complete body and ignores what follows (T082)', async (t) => {
  const heads = ['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nConnection: close\r\n'];
  const bodies = ['Content-Length: 5\r\n\r\nhello', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'];
  for (const head of heads) {
    for (const body of bodies) {
      const { origin } = await serveTcp(t, (socket) => {
        socket.once('data', () => socket.end(`${head}${body} and more`));
      });
      assert.equal(text.decode((await fetcher()(origin)).body), 'hello');
    }
  }
});

test('silence times out at every stage: lookup, answer, headers (T068, T082)', async (t) => {
  const lookup = () => new Promise<never>(() => {});
  await assert.rejects(createSafeFetch({ timeoutMs: 50 }, { lookup })('http://silent.example/'), {
    code: 'fetch_timeout',
  });
  const silent = await serveTcp(t, () => {});
  await assert.rejects(fetcher({ timeoutMs: 50 })(silent.origin), { code: 'fetch_timeout' });
  const headers = await serveTcp(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 10);
    t.after(() => clearInterval(timer));
  });
  await assert.rejects(fetcher({ timeoutMs: 100 })(headers.origin), { code: 'fetch_timeout' });
});

test("cancelling a fetch closes the site's connection and reports cancelled", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { origin } = await serveHttp(t, (_request, response) => {
    response.on('close', closed.resolve);
    response.write('begin');
    arrived.resolve();
  });
  const controller = new AbortController();
  const fetching = assert.rejects(fetcher()(origin, { signal: controller.signal }), { code: 'cancelled' });
  await arrived.promise;
  controller.abort();
  await Promise.all([fetching, closed.promise]);
  await assert.rejects(fetcher()(origin, { signal: controller.signal }), { code: 'cancelled' });
  const ownReason = new CarrelError('too_many_in_flight', 'Later.');
  await assert.rejects(fetcher()(origin, { signal: AbortSignal.abort(ownReason) }), ownReason);
});

test('the head can be inspected before the body is read', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { origin } = await serveHttp(t, (_request, response) => {
    response.on('close', closed.resolve);
    response.writeHead(200, { 'content-type': 'video/mp4' });
    pour(response);
  });
  const refusal = new CarrelError('invalid_arguments', 'No films.');
  const inspectHead = (head: { contentType: string | undefined }) => {
    if (head.contentType === 'video/mp4') throw refusal;
  };
  await assert.rejects(fetcher()(origin, { inspectHead }), refusal);
  await closed.promise;
});

test('HEAD gives the headers and no body', async (t) => {
  const { origin } = await serveHttp(t, (request, response) => {
    response
      .writeHead(200, { 'content-type': request.method, 'content-length': 10_000_000, 'content-encoding': 'gzip' })
      .end();
  });
  const answer = await fetcher()(origin, { method: 'HEAD' });
  assert.deepEqual([answer.contentType, answer.body.byteLength], ['HEAD', 0]);
});

const brokenAnswers: [what: string, bytes: string, code: string, reason?: string][] = [
  ['a shorter body than promised', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', 'fetch_failed', 'no_answer'],
  ['no answer', '', 'fetch_failed', 'no_answer'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'fetch_failed', 'not_http'],
  [
    'an invalid chunk length',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'fetch_failed',
    'not_http',
  ],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'fetch_failed', 'not_http'],
  ['a flood of header lines', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}\r\n`, 'too_large'],
  ['a header of 200 KB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`, 'too_large'],
  ['a Location of 1 MB', `HTTP/1.1 302 Found\r\nLocation: /${'y'.repeat(1 << 20)}\r\n\r\n`, 'too_large'],
  ['100 interim answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100), 'fetch_failed', 'not_http'],
  [
    'another protocol after 101',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
    'fetch_failed',
    'no_answer',
  ],
];

for (const [what, bytes, code, reason] of brokenAnswers) {
  test(`a site that sends ${what} fails with ${code} and our own message (T082, T084)`, async (t) => {
    const { origin } = await serveTcp(t, (socket) => socket.once('data', () => socket.end(bytes)));
    await assert.rejects(fetcher()(origin), (error: CarrelError) => {
      assert.equal(error.code, code);
      if (reason) assert.equal(error.data['reason'], reason);
      assert.doesNotMatch(error.message, /ECONN|HPE|socket|parse/i);
      return true;
    });
  });
}

test('distinguishes a refused connection from an unknown name', async (t) => {
  const { origin, server } = await serveHttp(t, () => {});
  server.close();
  await once(server, 'close');
  await assert.rejects(fetcher()(origin), {
    code: 'fetch_failed',
    data: { host: '127.0.0.1', reason: 'connection_refused' },
  });
  const failing = (code: string) =>
    createSafeFetch({}, { lookup: () => Promise.reject(Object.assign(new Error('x'), { code })) });
  await assert.rejects(failing('ENOTFOUND')('http://no.example/'), {
    data: { host: 'no.example', reason: 'name_not_found' },
  });
  await assert.rejects(failing('EAI_AGAIN')('http://no.example/'), {
    data: { host: 'no.example', reason: 'name_lookup_failed' },
  });
});

test('rejects an untrusted certificate in any environment', async (t) => {
  const server = createTlsServer(createCertificate(['self.example'])).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  t.after(() => server.close());
  await once(server, 'listening');
  setEnvironment(t, 'NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await assert.rejects(fetcher()(`https://127.0.0.1:${port}/`), { data: { host: '127.0.0.1', reason: 'tls_failed' } });
});

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(Buffer.alloc(16_384)));
  if (!response.destroyed) response.once('drain', () => pour(response));
}

function drip(t: TestContext, response: ServerResponse): void {
  const timer = setInterval(() => response.write('.'), 10);
  t.after(() => clearInterval(timer));
}

function setEnvironment(t: TestContext, name: string, value: string): void {
  const before = process.env[name];
  t.after(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
  process.env[name] = value;
}
