import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Evidence, type Feature, judge } from './relevance.ts';
import { bundledRerankerFolder, readRerankerFacts } from './reranking/bundled-reranker.ts';

const { calibration = [] } = readRerankerFacts(bundledRerankerFolder());

test('every search has a fit for the evidence it may have, and more evidence means more relevance', () => {
  const strong: Required<Evidence> = { logit: 4, words: 1, cosine: 0.92 };
  const faint: Required<Evidence> = { logit: -5, words: 0, cosine: 0.7 };
  const some: Feature[][] = [['logit'], ['words'], ['cosine'], ['logit', 'words'], ['words', 'cosine']];
  for (const features of [...some, ['logit', 'cosine'], ['logit', 'words', 'cosine']] as Feature[][]) {
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
        const { relevance } = judge({ logit, words, cosine }, calibration);
        assert.ok(relevance >= 0 && relevance <= 1, `${relevance} of ${[logit, words, cosine]}`);
        assert.equal(relevance, Number(relevance.toFixed(3)));
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
  const isWeak = (logit: number, words: number, cosine: number) => judge({ logit, words, cosine }, calibration).isWeak;
  assert.equal(isWeak(-5.5, 0, 0.74), true);
  assert.equal(isWeak(-5.5, 0.2, 0.86), false);
  assert.equal(isWeak(1, 0, 0.76), false);
});
