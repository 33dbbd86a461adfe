import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WordQuery } from '../../../words/word-query.ts';
import { firstByWeight, highestBut, listedLeaves, listedMatches } from './listed-matches.ts';

const term = (name: string) => ({ kind: 'term' as const, term: name });
const near = {
  kind: 'near' as const,
  word: 'x',
  written: 'x',
  terms: ['a', 'c'].map((name) => ({ term: name, written: name, share: 1 })),
};
const lists = new Map([
  ['a', Float64Array.of(1, 2, 3, 9)],
  ['b', Float64Array.of(2, 3, 4)],
  ['c', Float64Array.of(3, 7)],
  ['ab*', Float64Array.of(2, 9)],
]);

test('what a query finds is put together from the documents of its words', () => {
  const found = (query: WordQuery) => [...listedMatches(query, lists)];
  const or = { kind: 'or' as const, parts: [term('a'), term('b'), term('c')] };
  assert.deepEqual(found(or), [1, 2, 3, 4, 7, 9]);
  assert.deepEqual(found({ kind: 'and', parts: [term('a'), term('b')] }), [2, 3]);
  assert.deepEqual(found({ kind: 'and', parts: [or, { kind: 'prefix', prefix: 'ab' }] }), [2, 9]);
  assert.deepEqual(found({ kind: 'except', keep: or, drop: near }), [4]);
  assert.deepEqual(found(near), [1, 2, 3, 7, 9]);
  assert.deepEqual(found(term('nowhere')), []);
});

test('words that must not be there are listed too, and phrases cannot be', () => {
  const phrase = { kind: 'phrase' as const, terms: ['a', 'b'], open: false };
  assert.deepEqual(listedLeaves({ kind: 'except', keep: term('a'), drop: term('b') }), [term('a'), term('b')]);
  assert.equal(listedLeaves({ kind: 'and', parts: [term('a'), phrase] }), undefined);
});

test('the heaviest come first, the lower key before the higher; the others follow from the highest on', () => {
  const keys = Float64Array.of(1, 2, 3, 4, 7, 9);
  const weighed = [
    { leaf: term('a'), weight: 1 },
    { leaf: term('b'), weight: 1.5 },
    { leaf: term('c'), weight: 1 },
  ];
  assert.deepEqual(firstByWeight(keys, weighed, lists, 4), [3, 2, 4, 1]);
  const first = new Set([3, 2, 4]);
  assert.deepEqual(highestBut(keys, first, { limit: 2, offset: 0 }), [9, 7]);
  assert.deepEqual(highestBut(keys, first, { limit: 5, offset: 1 }), [7, 1]);
});
