import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { isCarrelError } from '../../base/errors.ts';
import { createEmbeddingProvider, type EmbeddingConfig } from './create-embedding-provider.ts';
import { createRemoteCalls } from './remote-calls.ts';

interface Call {
  url: string | undefined;
  authorization: string | undefined;
  body: { model: string; input: string[] };
}

type Answer = (call: Call, response: ServerResponse) => unknown;

/** A server that answers with the result of `answer`, or leaves the response to it if undefined. */
async function startServer(context: TestContext, answer: Answer): Promise<{ base: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = JSON.parse(await text(request));
    const call = { url: request.url, authorization: request.headers.authorization, body };
    calls.push(call);
    const data = answer(call, response);
    if (data !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(data));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

function status(response: ServerResponse, code: number, headers: Record<string, string> = {}): undefined {
  response.writeHead(code, headers).end('foreign text');
}

const unavailable = (error: unknown) => isCarrelError(error) && error.code === 'unavailable';
const defaults: EmbeddingConfig = {
  provider: 'local',
  ollamaHost: '',
  openaiBase: '',
  threads: 1,
  timeoutMs: 60_000,
  queryMs: 20_000,
  attemptsMax: 4,
  concurrencyMax: 4,
};
const fast = { timeoutMs: 5_000, attemptsMax: 3, concurrencyMax: 2, backOffMs: 1 };

test('OpenAI: sends texts, model and key; returns unit vectors in order', async (context) => {
  const { base, calls } = await startServer(context, ({ body }) => ({
    data: body.input.map((input: string, index: number) => ({ index, embedding: [input.length, 0] })).reverse(),
  }));
  const provider = createEmbeddingProvider({
    ...defaults,
    provider: 'openai',
    openaiBase: `${base}/v1/`,
    openaiKey: 'sk-1',
    model: 'm',
  });
  assert.equal(provider.name, 'openai:m');
  assert.equal(provider.dimensions, undefined);
  assert.deepEqual(await provider.embed(['aa', 'b']), [new Float32Array([1, 0]), new Float32Array([1, 0])]);
  assert.equal(provider.dimensions, 2);
  assert.deepEqual(calls[0], {
    url: '/v1/embeddings',
    authorization: 'Bearer sk-1',
    body: { model: 'm', input: ['aa', 'b'], encoding_format: 'float' },
  });
});

test('Ollama: splits many texts into several requests', async (context) => {
  const { base, calls } = await startServer(context, ({ body }) => ({
    embeddings: body.input.map((input: string) => [Number(input), 1]),
  }));
  const provider = createEmbeddingProvider({ ...defaults, provider: 'ollama', ollamaHost: base });
  const vectors = await provider.embed(Array.from({ length: 150 }, (_, index) => String(index)));
  assert.deepEqual(
    calls.map(({ url, body }) => [url, body.model, body.input.length]),
    [
      ['/api/embed', 'nomic-embed-text', 64],
      ['/api/embed', 'nomic-embed-text', 64],
      ['/api/embed', 'nomic-embed-text', 22],
    ],
  );
  vectors.forEach(([first = 0, second = 1], index) => {
    assert.ok(Math.abs(first / second - index) < 1e-3);
  });
});

test('rejects an answer that does not match the request', async (context) => {
  const answers: unknown[] = [
    { embeddings: [[1, 2]] },
    { embeddings: [] },
    { embeddings: [['x']] },
    { data: [] },
    { embeddings: [[1, 2, 3]] },
  ];
  const { base } = await startServer(context, () => answers.shift());
  const config: EmbeddingConfig = { ...defaults, provider: 'ollama', ollamaHost: base };
  const provider = createEmbeddingProvider(config);
  await provider.embed(['text']);
  while (answers.length > 0) await assert.rejects(provider.embed(['text']), unavailable);
});

test('retries busy and broken servers, not refusals', async (context) => {
  const codes = [429, 503, 200, 401];
  const { base, calls } = await startServer(context, (_call, response) => {
    const code = codes.shift() ?? 500;
    return code === 200 ? { fine: true } : status(response, code, code === 429 ? { 'retry-after': '0' } : {});
  });
  const remote = createRemoteCalls(fast);
  assert.deepEqual(await remote.post(base, {}, {}, undefined), { fine: true });
  assert.equal(calls.length, 3);
  const refused = remote.post(base, {}, {}, undefined);
  await assert.rejects(
    refused,
    (error) => unavailable(error) && /HTTP 401/.test(String(error)) && !/foreign/.test(String(error)),
  );
  assert.equal(calls.length, 4);
});

test('skips a server that keeps failing, then tries it once', async (context) => {
  let broken = true;
  const { base, calls } = await startServer(context, (_call, response) =>
    broken ? status(response, 500) : { fine: true },
  );
  const remote = createRemoteCalls({ ...fast, attemptsMax: 1, failuresMax: 2, pauseMs: 100 });
  const post = () => remote.post(base, {}, {}, undefined);
  await assert.rejects(post(), unavailable);
  await assert.rejects(post(), unavailable);
  await assert.rejects(post(), (error) => isCarrelError(error) && error.retryAfterSeconds === 1);
  assert.equal(calls.length, 2);
  broken = false;
  let answer: unknown;
  while (answer === undefined) answer = await post().catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
  assert.deepEqual(answer, { fine: true });
  assert.equal(calls.length, 3);
});

test('limits concurrent requests', async (context) => {
  let open = 0;
  let most = 0;
  const openResponses: (() => void)[] = [];
  const { base } = await startServer(context, (_call, response) => {
    open += 1;
    most = Math.max(most, open);
    openResponses.push(() => {
      open -= 1;
      response.end('{}');
    });
    if (openResponses.length >= 2) for (const release of openResponses.splice(0)) release();
  });
  const remote = createRemoteCalls(fast);
  await Promise.all(Array.from({ length: 8 }, () => remote.post(base, {}, {}, undefined)));
  assert.equal(most, 2);
});

test('fails cleanly if a server is too slow, redirects or is down', async (context) => {
  const silent = await startServer(context, () => undefined);
  const once = { ...fast, attemptsMax: 1 };
  await assert.rejects(createRemoteCalls({ ...once, timeoutMs: 50 }).post(silent.base, {}, {}, undefined), unavailable);
  const moved = await startServer(context, (_call, response) => status(response, 307, { location: silent.base }));
  await assert.rejects(
    createRemoteCalls(once).post(moved.base, {}, { authorization: 'secret' }, undefined),
    unavailable,
  );
  assert.equal(silent.calls.length, 1);
  await assert.rejects(createRemoteCalls(once).post('http://127.0.0.1:1', {}, {}, undefined), unavailable);
});

test('contract §3: a search soon gives up on a silent server; later ones skip it until it answers', async (context) => {
  const openResponses: ServerResponse[] = [];
  const { base, calls } = await startServer(context, (_call, response) => void openResponses.push(response));
  const config: EmbeddingConfig = { ...defaults, provider: 'ollama', ollamaHost: base, queryMs: 1_000 };
  const provider = createEmbeddingProvider(config);
  const query = () => provider.embed(['text'], { purpose: 'query' });
  await assert.rejects(query(), unavailable);
  await assert.rejects(query(), unavailable);
  assert.equal(calls.length, 1);
  // It was loading its model: the request continued, and its answer shows the server is alive.
  const passage = provider.embed(['text'], { purpose: 'passage' });
  while (openResponses.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const response of openResponses.splice(0)) response.end(JSON.stringify({ embeddings: [[1, 0]] }));
  await passage;
  const answered = query();
  while (openResponses.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  openResponses[0]?.end(JSON.stringify({ embeddings: [[0, 1]] }));
  assert.deepEqual(await answered, [new Float32Array([0, 1])]);
});

test('contract §2: cancelling a queued call takes effect immediately and frees its place', async (context) => {
  const openResponses: ServerResponse[] = [];
  const { base, calls } = await startServer(context, (_call, response) => void openResponses.push(response));
  const remote = createRemoteCalls({ ...fast, concurrencyMax: 1 });
  const first = remote.post(base, {}, {}, undefined);
  const controller = new AbortController();
  const second = remote.post(base, {}, {}, controller.signal);
  const third = remote.post(base, {}, {}, undefined);
  controller.abort();
  await assert.rejects(second, { code: 'cancelled' });
  while (openResponses.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  openResponses[0]?.end('{}');
  await first;
  while (openResponses.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  openResponses[1]?.end('{}');
  await third;
  assert.equal(calls.length, 2);
});

test('a cancelled call ends immediately and does not count as a failure', async (context) => {
  const { base } = await startServer(context, () => undefined);
  const remote = createRemoteCalls({ ...fast, failuresMax: 1 });
  const controller = new AbortController();
  const pending = remote.post(base, {}, {}, controller.signal);
  controller.abort();
  await assert.rejects(pending, (error) => isCarrelError(error) && error.code === 'cancelled');
  const second = new AbortController();
  const next = remote.post(base, {}, {}, second.signal);
  second.abort();
  await assert.rejects(next, (error) => isCarrelError(error) && error.code === 'cancelled');
});
