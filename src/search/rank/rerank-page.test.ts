import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../../base/errors.ts';
import type { RerankingProvider } from '../rerank/reranker.ts';
import { createReranker, type RerankerDeps } from '../rerank/reranker.ts';
import { type RankedHit, type RerankDeps, type RerankRequest, rerankPage } from './rerank-page.ts';

/** A hit's text is its logit, padded to be long. */
function provider(score?: RerankingProvider['score']): RerankingProvider & { scored: string[] } {
  const scored: string[] = [];
  return {
    name: 'test',
    device: undefined,
    scored,
    async score(query, passages, signal) {
      scored.push(...passages);
      return score ? score(query, passages, signal) : passages.map(Number);
    },
    close: async () => {},
  };
}

const calibration: RerankerDeps['calibration'] = [
  { features: ['logit'], intercept: 0, weights: [1], onTopicMin: 0.5 },
  { features: ['words'], intercept: 0, weights: [1], onTopicMin: 0 },
];

interface Row {
  logit: number;
  words?: number;
}

function corpus(
  rows: readonly Row[],
  of: RerankingProvider | undefined,
  chars = 400,
): { hits: RankedHit[]; deps: RerankDeps } {
  return {
    hits: rows.map((_, id) => ({ id, score: 1 - id / rows.length })),
    deps: {
      reranker: createReranker({ provider: of, weight: 1, calibration }),
      texts: async (ids) => new Map(ids.map((id) => [id, { text: String(rows[id]?.logit).padEnd(chars) }])),
      words: {
        score: async (_, ids) => ids.map((id) => ({ id, share: 0, coverage: rows[id]?.words ?? 0 })),
      },
    },
  };
}

const baseRequest = { text: 'which animals live in forests', limit: 10, offset: 0 } satisfies RerankRequest;
const rows = (count: number, logit: (id: number) => number): Row[] =>
  Array.from({ length: count }, (_, id) => ({ logit: logit(id) }));

test('the order is the same for every page, and a page reranks only what it needs', async () => {
  const model = provider();
  const { hits, deps } = corpus(
    rows(90, (id) => (id * 37) % 91),
    model,
  );
  const idsOf = async (request: Partial<RerankRequest>) =>
    (await rerankPage({ ...baseRequest, ...request }, hits, deps)).page.map(({ hit }) => hit.id);
  const first = await idsOf({});
  assert.equal(model.scored.length, 20);
  const whole = await idsOf({ limit: 90 });
  assert.deepEqual(first, whole.slice(0, 10));
  assert.notDeepEqual(
    first,
    hits.slice(0, 10).map(({ id }) => id),
  );
  for (const limit of [3, 7, 10, 25]) {
    const pages: number[] = [];
    for (let offset = 0; offset < 90; offset += limit) pages.push(...(await idsOf({ limit, offset })));
    assert.deepEqual(pages, whole, `pages of ${limit}`);
  }
  assert.deepEqual(
    whole.slice(50),
    hits.slice(50).map(({ id }) => id),
    'hits that are not reranked keep their order',
  );
});

test('reads fifty short texts at once', async () => {
  for (const [chars, read] of [
    [300, 50],
    [301, 20],
  ] as const) {
    const model = provider();
    const { hits, deps } = corpus(
      rows(90, (id) => id),
      model,
      chars,
    );
    const { page } = await rerankPage(baseRequest, hits, deps);
    assert.deepEqual([page[0]?.hit.id, model.scored.length], [read - 1, read]);
  }
});

test('omits and counts weak hits, but never one with every word of the query', async () => {
  const all = rows(30, () => -9)
    .with(7, { logit: -9, words: 1 })
    .with(9, { logit: 5 })
    .with(25, { logit: -9, words: 1 });
  const { hits, deps } = corpus(all, provider());
  const { page, omitted, included } = await rerankPage({ ...baseRequest, cutoff: 'weak' }, hits, deps);
  assert.deepEqual(
    page.map(({ hit }) => hit.id),
    [9, 7, 25],
  );
  assert.deepEqual([omitted, included], [7, 3]);
  const without = await rerankPage(baseRequest, hits, deps);
  assert.deepEqual([without.page.length, without.omitted], [10, 0]);
  const above = await rerankPage({ ...baseRequest, cutoff: { below: 0.9 } }, hits, deps);
  assert.deepEqual(
    above.page.map(({ hit }) => hit.id),
    [9],
    'a threshold spares nothing',
  );
});

test('omits hits below 1 % beside a strong one, unless they have the words', async () => {
  const fits = [{ features: ['logit'] as const, intercept: 0, weights: [1], onTopicMin: 0 }];
  const shown = async (best: number, text: string) => {
    const all = rows(4, () => -6)
      .with(0, { logit: best })
      .with(2, { logit: -6, words: 0.1 })
      .with(3, { logit: -3 });
    const { hits, deps } = corpus(all, provider());
    const reranker = createReranker({ provider: provider(), weight: 1, calibration: fits });
    const { page } = await rerankPage({ ...baseRequest, text, cutoff: 'weak' }, hits, { ...deps, reranker });
    return page.map(({ hit }) => hit.id).toSorted();
  };
  assert.deepEqual(await shown(1, 'how does one cook okra'), [0, 3]);
  assert.deepEqual(await shown(1, 'okra'), [0, 2, 3]);
  assert.deepEqual(await shown(0.8, 'how does one cook okra'), [0, 1, 2, 3], 'no strong hit');
});

test('a query of one or two words keeps hits with any of them, and hits near in meaning', async () => {
  const all = rows(6, () => -9).with(2, { logit: -9, words: 0.1 });
  const { hits, deps } = corpus(all, provider());
  const near = hits.map((hit) => ({ ...hit, cosine: hit.id === 4 ? 0.9 : 0.1, window: { start: 0, end: 1 } }));
  const fits = [
    ...calibration.slice(0, 1),
    { features: ['cosine'] as const, intercept: 0, weights: [1], onTopicMin: 0.6 },
  ];
  const reranker = createReranker({ provider: provider(), weight: 1, calibration: fits });
  const shown = async (text: string) =>
    (await rerankPage({ ...baseRequest, text, cutoff: 'weak' }, near, { ...deps, reranker })).page.map(
      ({ hit }) => hit.id,
    );
  assert.deepEqual(await shown('okra'), [2, 4]);
  assert.deepEqual(await shown('the okra-lectin effect'), [2, 4]);
  assert.deepEqual(await shown('how does one cook okra'), []);
});

test('stops asking the model when everything is weak', async () => {
  const model = provider();
  const { hits, deps } = corpus(
    rows(100, () => -9),
    model,
  );
  const { page, omitted } = await rerankPage({ ...baseRequest, cutoff: 'weak' }, hits, deps);
  assert.deepEqual([page.length, omitted, model.scored.length], [0, 10, 20]);
});

test('a failing or disabled model leaves the order as it is, and the answer says so', async () => {
  const failing = provider(() =>
    Promise.reject(new CarrelError('unavailable', 'The reranking server does not answer.')),
  );
  for (const [of, state] of [
    [failing, { state: 'failed', reason: 'The reranking server does not answer.' }],
    [undefined, { state: 'off', reason: 'Reranking is switched off in the settings.' }],
  ] as const) {
    const { hits, deps } = corpus(
      rows(40, (id) => id),
      of,
    );
    const { page, reranking } = await rerankPage({ ...baseRequest, limit: 40 }, hits, deps);
    assert.deepEqual(reranking, state);
    assert.deepEqual(
      page.map(({ hit }) => hit.id),
      hits.map(({ id }) => id),
    );
    assert.ok(page.every(({ relevance }) => relevance === 0.5));
  }
  assert.equal(failing.scored.length, 20, 'it is not asked again for the same search');
});

test('hits that the model did not reach in time come after the others, in their order', async () => {
  const { hits, deps } = corpus(
    rows(20, (id) => id),
    provider(async (_, passages) => passages.map((passage, place) => (place < 3 ? Number(passage) : undefined))),
  );
  const { page, reranking } = await rerankPage({ ...baseRequest, limit: 6 }, hits, deps);
  assert.deepEqual(
    page.map(({ hit }) => hit.id),
    [2, 1, 0, 3, 4, 5],
  );
  assert.equal(reranking.state, 'applied');
});

test('a cancelled call and our own bugs end the search', async () => {
  for (const error of [new CarrelError('cancelled', 'cancelled'), new TypeError('a fault')]) {
    const { hits, deps } = corpus(
      rows(5, () => 0),
      provider(() => Promise.reject(error)),
    );
    await assert.rejects(rerankPage(baseRequest, hits, deps), error);
  }
});

test('hits deleted meanwhile stay, without text or logit', async () => {
  const { hits, deps } = corpus(
    rows(3, (id) => id),
    provider(),
  );
  const texts: RerankDeps['texts'] = async (ids, signal) => {
    const known = new Map(await deps.texts(ids, signal));
    known.delete(1);
    return known;
  };
  const { page } = await rerankPage(baseRequest, hits, { ...deps, texts });
  assert.deepEqual(
    page.map(({ hit, evidence }) => [hit.id, evidence.logit]),
    [
      [2, 2],
      [0, 0],
      [1, undefined],
    ],
  );
});

/** The vectors of a message with many windows are scaled down, so that it does not hide short ones (passage-vectors.ts). */
test('a long message is as near as its nearest window; without the model, only the needed text is read', async () => {
  const { deps } = corpus([], undefined);
  const read: (number | undefined)[] = [];
  const judged = async (isMessage: boolean, hit: Omit<RankedHit, 'id' | 'score'>) => {
    const { page } = await rerankPage(baseRequest, [{ id: 1, score: 1, ...hit }], {
      ...deps,
      async texts(_, __, charsMax) {
        read.push(charsMax);
        return new Map([[1, { text: 'x'.repeat(4_000), isMessage }]]);
      },
    });
    return page[0]?.evidence;
  };
  const window = { start: 400, end: 600 };
  const { cosine = 0, length } = (await judged(true, { cosine: 0.77, window })) ?? {};
  assert.ok(Math.abs(cosine - 0.846) < 0.001, String(cosine));
  assert.equal(length, 4_000);
  const whole = { cosine: 0.77, window: { start: 0, end: 4_000 } };
  assert.equal((await judged(true, whole))?.cosine, 0.77, 'with a single vector');
  assert.equal((await judged(false, { cosine: 0.77, window }))?.cosine, 0.77, 'a part of a document');
  assert.deepEqual(read, [6_000, 6_000, 6_000]);
  await judged(true, {});
  assert.equal(read.length, 3, 'found by words alone');
});
