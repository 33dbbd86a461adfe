import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import { rerankerWithoutModel } from '../rerank/open-reranker.ts';
import type { WordMatch } from './fusion.ts';
import { searchHybrid } from './hybrid.ts';
import { createRetrieverCorpus, type MeaningRetriever, type WordRetriever } from './retrievers.ts';

interface Retrievers {
  words: WordRetriever;
  meaning: MeaningRetriever;
}

/** A small corpus as a table: word share and cosine by id. Each retriever lists only rows above its threshold. */
function corpus(rows: Record<number, [share: number, cosine: number]>, bar: [number, number] = [0, 0]): Retrievers {
  const ids = Object.keys(rows).map(Number);
  const word = (id: number): WordMatch => ({ id, share: rows[id]?.[0] ?? 0, terms: [] });
  const near = (id: number): MeaningMatch => ({ id, cosine: rows[id]?.[1] ?? 0, window: { start: 0, end: 1 } });
  return {
    words: {
      search: async (_text, limit) =>
        ids
          .map(word)
          .filter(({ share }) => share > bar[0])
          .slice(0, limit),
      score: async (_text, passageIds) => passageIds.map(word),
    },
    meaning: {
      search: async (text, limit) => ({
        text,
        vector: new Float32Array([1]),
        matches: ids
          .map(near)
          .filter(({ cosine }) => cosine > bar[1])
          .slice(0, limit),
        pending: 0,
        span: 0.25,
      }),
      score: async (_found, passageIds) => passageIds.map(near),
    },
  };
}

const joined = (retrievers: Parameters<typeof createRetrieverCorpus>[0]) => ({
  corpus: createRetrieverCorpus(retrievers),
  rerankDeps: { reranker: rerankerWithoutModel(), texts: async () => new Map(), words: undefined },
});

test('with a quoted phrase, shows only what the words found', async () => {
  const retrievers = corpus({ 1: [0.6, 0.4], 2: [0, 0.9], 3: [0.5, 0.85] }, [0.1, 0.3]);
  const ids = async (text: string, { words, meaning }: Partial<Retrievers>) =>
    (await searchHybrid({ text, limit: 10 }, joined({ words, meaning }))).matches.map(({ id }) => id).toSorted();
  assert.deepEqual(await ids('parental leave', retrievers), [1, 2, 3]);
  assert.deepEqual(await ids('"parental leave"', retrievers), [1, 3]);
  assert.deepEqual(await ids('"parental leave"', { meaning: retrievers.meaning }), [1, 2, 3], 'without a word search');
});

test('corrects misspelt words, for search by meaning too', async () => {
  const retrievers = corpus({ 1: [0.6, 0.4] });
  const searchedTexts: string[] = [];
  const meaning = {
    ...retrievers.meaning,
    search: (text: string, limit: number) => {
      searchedTexts.push(text);
      return retrievers.meaning.search(text, limit);
    },
  };
  const corrected = () =>
    searchedTexts.length > 1
      ? []
      : [
          { word: 'parentel', terms: ['parental'] },
          { word: 'leeve', terms: ['leave', 'sleeve'] },
        ];
  const text = 'Parentel leeve, parentel';
  const { matches } = await searchHybrid({ text, limit: 10 }, joined({ words: retrievers.words, meaning, corrected }));
  assert.deepEqual([searchedTexts, matches.length], [[text, 'parental leave, parental'], 1]);
});

test('each search scores what the other found', async () => {
  const rows: Record<number, [number, number]> = { 1: [0.6, 0.4], 2: [0.1, 0.9], 3: [0.5, 0.85] };
  const whole = await searchHybrid({ text: 'q', limit: 10 }, joined(corpus(rows)));
  const parts = await searchHybrid({ text: 'q', limit: 10 }, joined(corpus(rows, [0.4, 0.8])));
  const scores = (result: typeof whole) => result.matches.map(({ id, score }) => [id, score]);
  assert.deepEqual(scores(parts), scores(whole));
  assert.equal(parts.ranked, 3);
  assert.equal(parts.failure, undefined);
  const ranks = parts.matches.map(({ id, explanation: { words, meaning } }) => [id, words?.rank, meaning?.rank]);
  assert.deepEqual(
    ranks.toSorted(([a = 0], [b = 0]) => a - b),
    [
      [1, 1, undefined],
      [2, undefined, 1],
      [3, 2, 2],
    ],
  );
});

test('pages neither overlap nor leave gaps', async () => {
  const rows = Object.fromEntries(Array.from({ length: 25 }, (_, id) => [id, [0.5, 0.8] as [number, number]]));
  const page = (offset: number) => searchHybrid({ text: 'q', limit: 10, offset }, joined(corpus(rows)));
  const pages = await Promise.all([page(0), page(10), page(20), page(30)]);
  assert.deepEqual(
    pages.flatMap(({ matches }) => matches.map(({ id }) => id)),
    Array.from({ length: 25 }, (_, id) => id),
  );
  assert.equal(pages[1]?.matches[0]?.rank, 11);
});

test('without an embedding provider, ranks by words and says degraded (contract §3)', async () => {
  const deps = corpus({ 1: [0.6, 0.4], 2: [0.1, 0.9] });
  deps.meaning.search = async () => {
    throw new CarrelError('unavailable', 'The embedding server does not answer.');
  };
  const result = await searchHybrid({ text: 'q', limit: 10 }, joined(deps));
  assert.deepEqual(
    result.matches.map(({ id }) => id),
    [1, 2],
  );
  assert.equal(result.failure?.code, 'unavailable');
  assert.equal(result.retrieved.meaning, undefined);
});

test('does not mistake a cancelled call or our own bug for an unavailable provider', async () => {
  for (const failure of [new CarrelError('cancelled', 'The call was cancelled.'), new TypeError('broken')]) {
    const deps = corpus({ 1: [0.6, 0.4] });
    deps.meaning.search = () => Promise.reject(failure);
    await assert.rejects(searchHybrid({ text: 'q', limit: 10 }, joined(deps)), failure);
  }
  assert.equal(isCarrelError(new TypeError('broken')), false);
});

test('scores word matches that have no score yet', async () => {
  const deps = corpus({ 1: [0.6, 0.4], 2: [0.5, 0.3], 3: [0.1, 0.9] });
  deps.words.search = async () => [
    { id: 1, share: 0.6 },
    { id: 2, share: 0 },
  ];
  const { matches } = await searchHybrid({ text: 'q', limit: 10 }, joined(deps));
  const second = matches.find(({ id }) => id === 2);
  assert.deepEqual([second?.explanation.words?.share, second?.explanation.words?.rank], [0.5, 2]);
});

test('either search may be missing, and a question shifts the weight to meaning', async () => {
  const deps = corpus({ 1: [0.6, 0.8], 2: [0.1, 0.9] });
  const order = async (usedRetrievers: Parameters<typeof createRetrieverCorpus>[0], text = 'q') =>
    (await searchHybrid({ text, limit: 10 }, joined(usedRetrievers))).matches.map(({ id }) => id);
  assert.deepEqual(await order({ ...deps, meaning: undefined }), [1, 2]);
  assert.deepEqual(await order({ ...deps, words: undefined }), [2, 1]);
  assert.deepEqual(await order(deps), [1, 2]);
  assert.deepEqual(await order(deps, 'who owns the blue lantern'), [2, 1]);
});
