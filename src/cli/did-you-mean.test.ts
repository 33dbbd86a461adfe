import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance } from '../words/edit-distance.ts';
import { didYouMean } from './did-you-mean.ts';

const known = ['serve', 'search', 'find', 'get', 'list', 'backup', 'restore', 'completion', 'config'];

test('suggests the closest command', () => {
  for (const [word, meant] of [
    ['serach', 'search'],
    ['Search', 'search'],
    ['fnd', 'find'],
    ['bakcup', 'backup'],
    ['conf', 'config'],
    ['complete', 'completion'],
    ['lsit', 'list'],
  ] as const) {
    assert.equal(didYouMean(word, known), meant, word);
  }
});

test('suggests nothing for a word that resembles none, at any length', () => {
  for (const word of ['frobnicate', 'x', '', '--', 'q'.repeat(100_000)])
    assert.equal(didYouMean(word, known), undefined);
});

test('two letters in the wrong order are one mistake', () => {
  assert.equal(editDistance('lsit', 'list'), 1);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});
