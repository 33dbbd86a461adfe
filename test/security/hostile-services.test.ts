import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { createRemoteEngine } from '../../src/engine/remote/create-remote-engine.ts';
import { createRemoteEmbeddings } from '../../src/search/models/remote-embeddings.ts';
import { createHttpReranking } from '../../src/search/rerank/http-reranking.ts';
import { createFessClient, jsonObject } from '../../src/toolsets/fess/fess-api/fess-client.ts';
import { type Owner, serveHttp } from '../fakes/loopback-server.ts';

// A service that the operator configured may be broken or compromised.

const MiB = 1024 * 1024;

interface Hostile {
  origin: string;
  /** Requested paths. */
  asked: string[];
  /** Bytes sent as answers. */
  sent(): number;
}

/** Answers each request with the text, repeated up to this many bytes. */
async function serve(
  t: Owner,
  answerTo: (url: URL) => { text: string; bytes?: number; status?: number; retryAfter?: string },
) {
  const asked: string[] = [];
  let sent = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    request.resume();
    asked.push(request.url ?? '');
    const { text, bytes = text.length, status = 200, retryAfter } = answerTo(new URL(request.url ?? '', 'http://x'));
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter ? { 'retry-after': retryAfter } : {}),
    });
    async function* parts() {
      for (let left = bytes; left > 0; left -= text.length) {
        sent += text.length;
        yield text.slice(0, left);
      }
    }
    await pipeline(Readable.from(parts()), response).catch(() => {});
  };
  const { origin } = await serveHttp(t, (request, response) => void answer(request, response));
  return { origin, asked, sent: () => sent } satisfies Hostile;
}

function engineAt({ origin }: Hostile) {
  return createRemoteEngine({ engineUrl: origin, timeoutMs: 60_000 });
}

const refused = { code: 'engine_error' };

test('stops reading endless pages of an engine, by count or when they stall', async (t) => {
  const document = { id: 1, title: 't', tags: [] };
  let count = 0;
  const endless = await serve(t, ({ pathname }) => {
    count += 1;
    const pages = { tags: [{ tag: `t${count}`, count: 1 }], documents: [document], jobs: [{ id: count }] };
    const next = pathname.endsWith('tags') ? `?after=t${count}` : `?offset=${count}`;
    return { text: JSON.stringify({ ...pages, results: [{}], next, next_offset: count }) };
  });
  const engine = engineAt(endless);
  for (const list of [() => engine.tags(), () => engine.documents({}), () => engine.jobs({})]) {
    endless.asked.length = 0;
    await assert.rejects(list(), refused);
    assert.equal(endless.asked.length, 100);
  }
  const still = await serve(t, () => ({
    text: JSON.stringify({ tags: [{ tag: 'a', count: 1 }], results: [{}], next: '?after=a', next_offset: 5 }),
  }));
  await assert.rejects(engineAt(still).tags(), refused);
  await assert.rejects(engineAt(still).search({ query: 'q' }), refused);
  assert.equal(still.asked.length, 4);
});

test("rejects an engine's answer that is too long, too deep or too full before parsing", async (t) => {
  const parts = { long: 'x'.repeat(64 * 1024), deep: '['.repeat(64 * 1024), full: '[],'.repeat(20 * 1024) };
  for (const [name, text] of Object.entries(parts)) {
    const server = await serve(t, () => ({ text, bytes: name === 'long' ? 127 * MiB : 5 * MiB }));
    await assert.rejects(engineAt(server).status(), refused, name);
    assert.ok(server.sent() < 40 * MiB, `${name}: ${server.sent()} bytes were read`);
  }
});

test('rejects such an answer from Fess', async (t) => {
  const server = await serve(t, () => ({ text: '[],'.repeat(20 * 1024), bytes: 5 * MiB }));
  const client = createFessClient({
    baseUrl: server.origin,
    userAgent: 'test',
    timeoutMs: 60_000,
  });
  const answer = await client.get('/api', new URLSearchParams(), {});
  assert.throws(() => jsonObject(answer), { code: 'fess_error' });
  client.close();
});

const calls = { timeoutMs: 60_000, attemptsMax: 3, concurrencyMax: 2 };

test("bounds a reranking or embedding server's answer by the request", async (t) => {
  const server = await serve(t, () => ({ text: '{"results":[[0,0,0,0,0,0,0,0]],'.repeat(2_000), bytes: 63 * MiB }));
  const reranking = createHttpReranking({ ...calls, url: server.origin, model: 'm', apiKey: undefined });
  await assert.rejects(reranking.score('q', ['a passage']), { code: 'unavailable' });
  const embeddings = createRemoteEmbeddings('openai', {
    ...{ ...calls, queryMs: 60_000, ollamaHost: server.origin, openaiBase: server.origin },
  });
  await assert.rejects(embeddings.embed(['a text']), { code: 'unavailable' });
  assert.equal(server.asked.length, 2);
  assert.ok(server.sent() < 20 * MiB, `${server.sent()} bytes were read`);
});

test('a search does not wait for a pause that a server requests', async (t) => {
  const server = await serve(t, () => ({ text: '{}', status: 429, retryAfter: '3600' }));
  const reranking = createHttpReranking({ ...calls, url: server.origin, model: 'm', apiKey: undefined });
  await assert.rejects(reranking.score('q', ['a passage']), { code: 'unavailable' });
  const embeddings = createRemoteEmbeddings('ollama', {
    ...{ ...calls, queryMs: 600_000, ollamaHost: server.origin, openaiBase: server.origin },
  });
  await assert.rejects(embeddings.embed(['q'], { purpose: 'query' }), { code: 'unavailable' });
  assert.equal(server.asked.length, 2);
});
