import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, type FusionSettings, fuse } from './fusion.ts';

const settings: FusionSettings = { rrfK: 60, span: 0.25, isKeywords: false };

const window = { start: 0, end: 10 };

/** Ranks are within the retrievers. */
function candidate(
  id: number,
  share: number | undefined,
  cosine: number | undefined,
  [wordRank, meaningRank]: (number | undefined)[] = [],
): Candidate {
  return {
    id,
    words: share === undefined ? undefined : { id, share, terms: [{ term: 'term', share }], rank: wordRank },
    meaning: cosine === undefined ? undefined : { id, cosine, window, rank: meaningRank },
  };
}

/** Passages that all have the same word share and cosine. */
function fillers(share: number): Candidate[] {
  return Array.from({ length: 60 }, (_, index) => candidate(100 + index, share, 0.7));
}

test('meaning decides for a question, words for keywords', () => {
  const pair = [candidate(1, 0.5, 0.8), candidate(2, 0.3, 0.85)];
  assert.equal(fuse(pair, settings)[0]?.id, 2);
  assert.equal(fuse(pair, { ...settings, isKeywords: true })[0]?.id, 1);
});

test('past the span, passages are still ordered by distance', () => {
  const far = fuse(
    [candidate(1, undefined, 0.9), candidate(2, undefined, 0.1), candidate(3, undefined, 0.3)],
    settings,
  );
  assert.deepEqual(
    far.map(({ id }) => id),
    [1, 3, 2],
  );
});

test('scores are between 0 and 1, and ties are ordered by id', () => {
  const fused = fuse([candidate(9, 1, undefined), candidate(3, 1, undefined), candidate(5, 0, 0.1)], settings);
  assert.deepEqual(
    fused.map(({ id, rank }) => [id, rank]),
    [
      [3, 1],
      [9, 2],
      [5, 3],
    ],
  );
  assert.ok(fused.every(({ score }) => score >= 0 && score <= 1));
  assert.equal(fused[0]?.score, fused[1]?.score);
});

test('a repeated passage ranks after different ones', () => {
  const candidates = [candidate(1, 0.6, 0.9), candidate(2, 0.6, 0.9), candidate(3, 0.5, 0.85), candidate(4, 0.6, 0.89)];
  const fused = fuse(candidates, settings);
  assert.deepEqual(
    fused.map(({ id, explanation }) => [id, explanation.copyOf]),
    [
      [1, undefined],
      [4, undefined],
      [3, undefined],
      [2, 1],
    ],
  );
  assert.equal(fused[3]?.score, (fused[0]?.score ?? 0) / 2);
});

test('the order of the candidates does not matter', () => {
  const candidates = [
    candidate(1, 0.4, 0.8),
    candidate(2, undefined, 0.9),
    candidate(3, 0.6, undefined),
    ...fillers(0.1),
  ];
  assert.deepEqual(fuse(candidates.toReversed(), settings), fuse(candidates, settings));
});

test('a passage without vectors ranks where its words suggest', () => {
  const embedded = [candidate(1, 0.5, 0.85), candidate(2, 0.1, 0.9), candidate(3, undefined, 0.8)];
  const ids = (fused: readonly { id: number }[]) => fused.map(({ id }) => id);
  // The best words count as the nearest meaning, half of them as half as near.
  const best = fuse([...embedded, candidate(4, 0.6, undefined)], settings);
  assert.equal(best[0]?.id, 4);
  const { words, meaning, assumedNearness } = best[0]?.explanation ?? {};
  assert.deepEqual([meaning, assumedNearness], [undefined, 1]);
  const weight = words?.weight ?? 0;
  assert.ok(Math.abs((best[0]?.score ?? 0) - (weight * 0.6 + (1 - weight))) < 1e-12);
  const middling = fuse([...embedded, candidate(4, 0.25, undefined)], settings);
  assert.equal(middling.find(({ id }) => id === 4)?.explanation.assumedNearness, 0.5);
  assert.equal(ids(middling).indexOf(4), 2);
  // Among themselves they keep the order of their words; without any vectors nothing is assumed.
  const many = fuse([candidate(1, 0.05, 0.9), candidate(5, 0.4, undefined), candidate(4, 0.6, undefined)], settings);
  assert.deepEqual(
    ids(many).filter((id) => id !== 1),
    [4, 5],
  );
  assert.equal(fuse([candidate(4, 0.6, undefined)], settings)[0]?.explanation.assumedNearness, undefined);
});

test('a single search keeps its own order', () => {
  const words = fuse([candidate(1, 0.2, undefined), candidate(2, 0.6, undefined)], settings);
  assert.deepEqual(
    words.map(({ id, score }) => [id, score]),
    [
      [2, 0.6],
      [1, 0.2],
    ],
  );
  const meaning = fuse([candidate(1, undefined, 0.7), candidate(2, 0, 0.9)], settings);
  assert.deepEqual(
    meaning.map(({ id }) => id),
    [2, 1],
  );
  assert.equal(meaning[0]?.score, 1);
  assert.equal(meaning[0]?.explanation.words, undefined);
});

test('RRF is 1 / (k + rank), summed over both searches', () => {
  const candidates = [
    candidate(1, 0.5, 0.7, [1, 3]),
    candidate(2, 0.4, 0.9, [2, 1]),
    candidate(3, undefined, 0.8, [undefined, 2]),
  ];
  const rrf = new Map(fuse(candidates, settings).map(({ id, explanation }) => [id, explanation.rrf]));
  assert.deepEqual([rrf.get(1), rrf.get(2), rrf.get(3)], [1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 62]);
});

test('the explanation has search, rank, terms and part', () => {
  const terms = [
    { term: 'fox', share: 0.4 },
    { term: 'red', share: 0.1 },
  ];
  const found: Candidate = {
    id: 7,
    words: { id: 7, share: 0.5, terms, rank: 2 },
    meaning: { id: 7, cosine: 0.9, window: { start: 10, end: 50 }, rank: 1 },
  };
  const [first] = fuse([found, candidate(8, 0.6, 0.6)], settings);
  assert.equal(first?.id, 7);
  const { words, meaning } = first?.explanation ?? {};
  assert.deepEqual([words?.rank, words?.terms, words?.share], [2, terms, 0.5]);
  assert.deepEqual([meaning?.rank, meaning?.window, meaning?.nearness], [1, { start: 10, end: 50 }, 1]);
  const sum = (words?.weight ?? 0) * 0.5 + (meaning?.weight ?? 0) * 1;
  assert.ok(Math.abs((first?.score ?? 0) - sum) < 1e-12);
});

test('estimates the span of an unmeasured model from the query', () => {
  const narrow = fuse([candidate(1, 0.3, 0.5), candidate(2, 0.3, 0.2)], { ...settings, span: undefined });
  assert.equal(narrow[0]?.id, 1);
  assert.ok((narrow[1]?.explanation.meaning?.nearness ?? 0) > 0.7);
  assert.deepEqual(fuse([], { ...settings, span: undefined }), []);
});
