import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Evidence, type Feature, judge } from './relevance.ts';
import { bundledRerankerFolder, readRerankerFacts } from './reranking/bundled-reranker.ts';

const { calibration = [] } = readRerankerFacts(bundledRerankerFolder());

test('every search has a fit for the evidence it may have, and more evidence means more relevance', () => {
  const strong: Required<Evidence> = { logit: 4, words: 1, cosine: 0.92, length: 300 };
  const faint: Required<Evidence> = { logit: -5, words: 0, cosine: 0.7, length: 300 };
  const read: Feature[][] = [['cosine'], ['words', 'cosine'], ['logit', 'cosine'], ['logit', 'words', 'cosine']];
  const some: Feature[][] = [
    ['logit'],
    ['words'],
    ['logit', 'words'],
    ...read.map((each) => [...each, 'length' as const]),
  ];
  for (const features of some) {
    const of = (evidence: Required<Evidence>) =>
      judge(Object.fromEntries(features.map((feature) => [feature, evidence[feature]])), calibration).relevance;
    assert.ok(of(strong) > of(faint), `${features}: ${of(strong)}, ${of(faint)}`);
  }
});

test('relevance is a number from 0 to 1 with three digits, whatever the evidence', () => {
  const values = [undefined, Number.NaN, Number.POSITIVE_INFINITY, -1e9, -1, 0, 1e-9, 0.5, 1, 1e9];
  for (const logit of values) {
    for (const words of values) {
      for (const cosine of values) {
        for (const length of values) {
          const { relevance } = judge({ logit, words, cosine, length }, calibration);
          assert.ok(relevance >= 0 && relevance <= 1, `${relevance} of ${[logit, words, cosine, length]}`);
          assert.equal(relevance, Number(relevance.toFixed(3)));
        }
      }
    }
  }
  assert.equal(judge({}, []).relevance, 0);
});

test('without the model and without cosines that are known, nothing is weak: words alone are a poor judge', () => {
  assert.equal(judge({ words: 0 }, calibration).isWeak, false);
});

/** To reach: what is off topic disappears, while at most 2 % of relevant hits are lost. */
test('a hit is weak if neither the model nor its nearness speaks for it: one of them may be mistaken', () => {
  const isWeak = (logit: number, words: number, cosine: number) =>
    judge({ logit, words, cosine, length: 300 }, calibration).isWeak;
  assert.equal(isWeak(-5.5, 0, 0.74), true);
  assert.equal(isWeak(-5.5, 0.2, 0.86), false);
  assert.equal(isWeak(1, 0, 0.76), false);
});

test('of a long text some part is near to any question: it is weak where a short one, as near, is not', () => {
  for (const logit of [undefined, -5]) {
    const isWeak = (cosine: number, length: number) => judge({ logit, words: 0, cosine, length }, calibration).isWeak;
    assert.deepEqual([isWeak(0.81, 120), isWeak(0.81, 1_000), isWeak(0.88, 1_000)], [false, true, false], `${logit}`);
    assert.equal(isWeak(0.81, 100), isWeak(0.81, 2), 'what is shorter than anything that was judged');
  }
});
