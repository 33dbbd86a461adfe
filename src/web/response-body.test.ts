import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { serveHttp } from '../../test/fakes/loopback-server.ts';
import { createSafeFetch, type SafeFetch, type SafeFetchConfig } from './safe-fetch.ts';
import { parseTargetList } from './target-list.ts';

function fetcher(config: SafeFetchConfig = {}): SafeFetch {
  return createSafeFetch({ allowPrivate: parseTargetList(['127.0.0.0/8']), ...config });
}

const encoders: [string, (body: Uint8Array) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['identity', (body) => body],
  ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
];

test('decodes every requested encoding, chains of two included (T083)', async (t) => {
  const page = Buffer.from('a page '.repeat(20_000));
  for (const [encoding, encode] of encoders) {
    const { origin } = await serveHttp(t, (request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(request.url === '/empty' ? undefined : encode(page));
    });
    assert.deepEqual(Buffer.from((await fetcher()(origin)).body), page, encoding);
    assert.equal((await fetcher()(`${origin}/empty`)).body.byteLength, 0, encoding);
  }
});

test('refuses unrequested encodings and longer chains (T083, T084)', async (t) => {
  for (const encoding of ['zstd', 'compress', 'gzip, gzip, gzip', Array(1000).fill('gzip').join(', '), 'gzip;q=1']) {
    const { origin } = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('x');
    });
    await assert.rejects(fetcher()(origin), { code: 'unsupported_encoding' }, encoding.slice(0, 20));
  }
});

test('rejects a body that is truncated or does not match its encoding', async (t) => {
  const complete = gzipSync(Buffer.from('a page '.repeat(2000)));
  for (const [encoding, body] of [
    ['gzip', Buffer.from('plain')],
    ['br', Buffer.from('plain text, no brotli')],
    ['gzip', complete.subarray(0, -9)],
  ] as const) {
    const { origin } = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    await assert.rejects(fetcher()(origin), {
      code: 'fetch_failed',
      data: { host: '127.0.0.1', reason: 'bad_encoding' },
    });
  }
});

test('stops a compression bomb at the limit, in bounded memory (T083)', async (t) => {
  const zeros = Buffer.alloc(64 * 1024 * 1024);
  const bombs: [string, Uint8Array][] = [
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    ['deflate', deflateSync(zeros)],
  ];
  for (const [encoding, bomb] of bombs) {
    const { origin } = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
    });
    const before = process.memoryUsage();
    await assert.rejects(fetcher({ bytesMax: 1024 * 1024 })(origin), { code: 'too_large' }, encoding);
    const after = process.memoryUsage();
    assert.ok(
      after.arrayBuffers - before.arrayBuffers < 16 * 1024 * 1024,
      `${encoding} held ${after.arrayBuffers - before.arrayBuffers} bytes`,
    );
  }
});

test('the limit is exact, with and without a Content-Length (T082)', async (t) => {
  const { origin } = await serveHttp(t, (request, response) => {
    const body = Buffer.alloc(Number(request.url?.slice(2)));
    if (request.url?.startsWith('/l')) response.setHeader('content-length', body.byteLength);
    else response.flushHeaders();
    response.end(body);
  });
  for (const kind of ['l', 'c']) {
    assert.equal((await fetcher()(`${origin}/${kind}5000`, { bytesMax: 5000 })).body.byteLength, 5000);
    await assert.rejects(fetcher()(`${origin}/${kind}5001`, { bytesMax: 5000 }), {
      code: 'too_large',
      data: { bytesMax: 5000 },
    });
  }
});
