import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pairWeights } from './han-pairs.ts';
import { leafKey, leavesOf, plainQuery } from './word-query.ts';

test('a word weighs more than a pair across two words, and parts of a longer word weigh less', () => {
  const weights = pairWeights('野马队的总经理');
  assert.deepEqual(
    [weights.get('野马'), weights.get('马队'), weights.get('总经'), weights.get('经理')],
    [1, 0.7, 0.5, 0.5],
  );
});

test('question words and pairs that touch them weigh nothing, unless there is nothing else', () => {
  assert.deepEqual([...pairWeights('唱什么歌').values()], [0, 0, 0]);
  const keys = (text: string) => leavesOf(plainQuery(text)).map(leafKey);
  assert.deepEqual(keys('国歌是什么'), ['国歌', '歌是']);
  assert.deepEqual(keys('什么'), ['什么']);
  assert.deepEqual(keys('ใครคือประธานาธิบดี'), ['ประธานาธิบดี']);
});

test('a query uses the weights', () => {
  const weights = leavesOf(plainQuery('总经理')).map((leaf) => (leaf.kind === 'term' ? (leaf.weight ?? 1) : undefined));
  assert.deepEqual(weights, [0.5, 0.5, 1]);
});

test('a repeated pair keeps its higher weight, and Japanese is unweighted', () => {
  assert.equal(pairWeights('上海大学，大海').get('上海'), 1);
  assert.equal(pairWeights('东京，广东京剧').get('东京'), 1);
  assert.equal(pairWeights('東京の大学').size, 0);
  assert.equal(pairWeights('hello').size, 0);
});
