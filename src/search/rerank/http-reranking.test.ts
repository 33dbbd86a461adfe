import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import { createHttpReranking } from './http-reranking.ts';
import { createReranker } from './reranker.ts';

interface Call {
  url: string | undefined;
  authorization: string | undefined;
  body: Record<string, unknown> & { query: string; texts?: string[]; documents?: string[] };
}

type Answer = (call: Call, response: ServerResponse) => unknown;

/** A server that answers with the result of `answer`, or leaves the response to it if undefined. */
async function startServer(context: TestContext, answer: Answer): Promise<{ base: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const call = {
      url: request.url,
      authorization: request.headers.authorization,
      body: JSON.parse(await text(request)),
    };
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

function status(response: ServerResponse, code: number): undefined {
  response.writeHead(code).end('foreign text');
}

const common = {
  model: undefined,
  apiKey: undefined,
  timeoutMs: 60_000,
  attemptsMax: 2,
  concurrencyMax: 2,
  backOffMs: 1,
};
const unavailable = (error: unknown) => isCarrelError(error) && error.code === 'unavailable';
const lengths = (passages: readonly string[] = []) =>
  passages.map((passage, index) => ({ index, passage })).toSorted((a, b) => b.passage.length - a.passage.length);

test('Text Embeddings Inference: sends texts, accepts raw scores in any order', async (context) => {
  const { base, calls } = await startServer(context, ({ body }, response) =>
    body.texts === undefined
      ? status(response, 422)
      : lengths(body.texts).map(({ index, passage }) => ({ index, score: passage.length - 0.5 })),
  );
  const provider = createHttpReranking({ ...common, url: base });
  assert.deepEqual(await provider.score('q', ['a', 'ccc', 'bb']), [0.5, 2.5, 1.5]);
  assert.deepEqual(await provider.score('q2', ['a']), [0.5]);
  assert.deepEqual(
    calls.map(({ url, body }) => [url, Object.keys(body).join()]),
    [
      ['/rerank', 'query,documents,top_n'],
      ['/rerank', 'query,texts,raw_scores,truncate'],
      ['/rerank', 'query,texts,raw_scores,truncate'],
    ],
  );
});

test('Cohere and Jina: sends model and key; probabilities become logits', async (context) => {
  const { base, calls } = await startServer(context, ({ body }) => ({
    id: 'x',
    results: lengths(body.documents).map(({ index }) => ({ index, relevance_score: [0.5, 1, 0][index], document: {} })),
  }));
  const provider = createHttpReranking({ ...common, url: `${base}/v1`, model: 'rerank-v3', apiKey: 'key-1' });
  assert.equal(provider.name, 'http:rerank-v3');
  const [middle, high = 0, low = 0] = await provider.score('q', ['aaa', 'bb', 'c']);
  assert.equal(middle, 0);
  assert.ok(high > 10 && high < 20 && low < -10 && low > -20, `${high} ${low}`);
  assert.deepEqual(calls[0], {
    url: '/v1/rerank',
    authorization: 'Bearer key-1',
    body: { model: 'rerank-v3', query: 'q', documents: ['aaa', 'bb', 'c'], top_n: 3 },
  });
});

test('llama.cpp and vLLM: after a score outside 0 to 1, all scores are logits', async (context) => {
  const { base, calls } = await startServer(context, ({ body }) => ({
    model: 'm',
    usage: {},
    results: (body.documents ?? []).map((passage, index) => ({ index, relevance_score: Number(passage) })),
  }));
  const provider = createHttpReranking({ ...common, url: `${base}/v1/rerank` });
  const reranker = createReranker({ provider, weight: 1, calibration: [] });
  assert.deepEqual((await reranker.score('q', ['-7.5', '0.25'])).logits, [-7.5, 0.25]);
  assert.deepEqual((await reranker.score('q', ['0.75', '0.25'])).logits, [0.75, 0.25]);
  assert.deepEqual(
    calls.map(({ body }) => body.documents),
    [['-7.5', '0.25'], ['0.75']],
    'does not ask again for known pairs',
  );
  assert.equal(calls[0]?.url, '/v1/rerank');
});

test('malformed, missing, surplus or foreign scores fail and say what was wrong', async (context) => {
  const answers: unknown[] = [
    { results: 'none' },
    { results: [{ index: 0, relevance_score: null }] },
    { results: [{ index: 0, relevance_score: 1 }] },
    { results: [0, 1, 1].map((index) => ({ index, relevance_score: 1 })) },
    { results: [0, 2].map((index) => ({ index, relevance_score: 1 })) },
    { error: 'secret detail' },
  ];
  const { base } = await startServer(context, () => answers.shift());
  const provider = createHttpReranking({ ...common, url: base });
  while (answers.length > 0) {
    await assert.rejects(provider.score('q', ['a', 'b']), (error) => {
      assert.ok(error instanceof CarrelError && unavailable(error));
      assert.match(error.message, /The reranking server answered with/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
});

test('retries a busy server; refusals, redirects and silence fail without quoting the server or the key', async (context) => {
  let busy = 1;
  const { base, calls } = await startServer(context, ({ url, body }, response) => {
    if (url?.startsWith('/busy') && busy-- > 0) return status(response, 503);
    if (url?.startsWith('/refused')) return status(response, 401);
    if (url?.startsWith('/moved')) return response.writeHead(307, { location: `${base}/elsewhere` }).end() && undefined;
    if (url?.startsWith('/silent')) return undefined;
    if (url?.startsWith('/words')) return response.end('these are no numbers') && undefined;
    return { results: (body.documents ?? []).map((_, index) => ({ index, relevance_score: 0.5 })) };
  });
  const ask = (path: string) => {
    const timeoutMs = path === '/silent' ? 200 : common.timeoutMs;
    return createHttpReranking({ ...common, url: base + path, apiKey: 'key-1', timeoutMs }).score('q', ['a']);
  };
  assert.deepEqual(await ask('/busy'), [0]);
  for (const path of ['/refused', '/moved', '/silent', '/words']) {
    await assert.rejects(ask(path), (error) => {
      assert.ok(error instanceof CarrelError && unavailable(error), path);
      assert.doesNotMatch(error.message, /key-1|foreign|127\.0\.0\.1|these are/);
      return true;
    });
  }
  assert.ok(calls.every(({ url }) => !url?.includes('elsewhere')));
});

test('cancelling the call ends the request', async (context) => {
  const controller = new AbortController();
  const { base } = await startServer(context, () => {
    controller.abort();
    return undefined;
  });
  const provider = createHttpReranking({ ...common, url: base });
  await assert.rejects(
    provider.score('q', ['a'], controller.signal),
    (error) => isCarrelError(error) && error.code === 'cancelled',
  );
});
