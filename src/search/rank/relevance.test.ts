import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundledRerankerFolder, readRerankerSettings } from '../rerank/bundled-reranker.ts';
import { type Evidence, judge, leadsOf } from './relevance.ts';

type Known = keyof Evidence;

const { calibration = [] } = readRerankerSettings(bundledRerankerFolder());

test('every kind of search has a calibration, and more evidence means more relevance', () => {
  const strong: Required<Evidence> = { logit: 4, lead: 4, words: 1, cosine: 0.92, length: 300 };
  const faint: Required<Evidence> = { logit: -5, lead: -4, words: 0, cosine: 0.7, length: 300 };
  const judged: Known[] = ['logit', 'lead'];
  const read: Known[][] = [['cosine'], ['words', 'cosine'], [...judged, 'cosine'], [...judged, 'words', 'cosine']];
  const some: Known[][] = [
    judged,
    ['words'],
    [...judged, 'words'],
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
          const { relevance } = judge({ logit, lead: logit, words, cosine, length }, calibration);
          assert.ok(relevance >= 0 && relevance <= 1, `${relevance} of ${[logit, words, cosine, length]}`);
          assert.equal(relevance, Number(relevance.toFixed(3)));
        }
      }
    }
  }
  assert.equal(judge({}, []).relevance, 0);
});

test('no hit is weak if only its words are known', () => {
  assert.equal(judge({ words: 0 }, calibration).isWeak, false);
});

/** The goal: off-topic hits disappear, and at most 2 % of relevant hits are lost. */
test('a hit is weak only if both the model and its cosine are low', () => {
  const isWeak = (logit: number, words: number, cosine: number) =>
    judge({ logit, lead: logit + 2, words, cosine, length: 300 }, calibration).isWeak;
  assert.equal(isWeak(-5.5, 0, 0.66), true);
  assert.equal(isWeak(-5.5, 0.2, 0.86), false);
  assert.equal(isWeak(1, 0, 0.7), false);
});

test('a long text must be nearer than a short one, because some part of it is near to any question', () => {
  const isWeak = (cosine: number, length: number) => judge({ words: 0, cosine, length }, calibration).isWeak;
  assert.deepEqual([isWeak(0.7, 120), isWeak(0.7, 1_000), isWeak(0.8, 1_000)], [false, true, false]);
  assert.equal(isWeak(0.7, 100), isWeak(0.7, 2), 'shorter than any judged text');
});

const leads = (...logits: number[]) => leadsOf(logits.map((logit) => ({ logit })));

test('an answer leads among unrelated texts', () => {
  const [right = 0, ...wrong] = leads(-1, -6, -7, -6.5);
  assert.ok(right > 3.5 && right < 5);
  assert.ok(wrong.every((lead) => lead < -4));
});

test('a hit without others is compared with typical unrelated texts', () => {
  const [right = 0, unsure = 0, wrong = 0] = [0, -4, -7].map((logit) => leads(logit)[0] ?? 0);
  assert.ok(right > 4 && unsure < 1 && wrong < -2, `${right} ${unsure} ${wrong}`);
  assert.deepEqual(leads(), []);
});

test('equally high hits do not lower one another, and replaced hits lower none', () => {
  const [alone = 0] = leads(2, -2, -3);
  for (const lead of leads(2, 2, -2, -3).slice(0, 2)) assert.equal(lead.toFixed(1), alone.toFixed(1));
  const [near = 0] = leads(2, 1.8, -2, -3);
  assert.ok(near > 1 && near < alone, `${near}`);
  assert.ok((leads(6, 5)[1] ?? 0) > 1, 'both are surely right');
  assert.equal(leadsOf([{ logit: 2 }, { logit: 3, isReplaced: true }, { logit: -2 }, { logit: -3 }])[0], alone);
});
