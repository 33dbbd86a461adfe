import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance } from '../words/edit-distance.ts';
import { closestWord } from './usage-error.ts';

const commands = ['serve', 'search', 'find', 'get', 'list', 'backup', 'restore', 'completion', 'config'];

test('finds the closest command', () => {
  for (const [word, expected] of [
    ['serach', 'search'],
    ['Search', 'search'],
    ['fnd', 'find'],
    ['bakcup', 'backup'],
    ['conf', 'config'],
    ['complete', 'completion'],
    ['lsit', 'list'],
  ] as const) {
    assert.equal(closestWord(word, commands), expected, word);
  }
});

test('finds nothing for unfamiliar words of any length', () => {
  for (const word of ['frobnicate', 'x', '', '--', 'q'.repeat(100_000)])
    assert.equal(closestWord(word, commands), undefined);
});

test('counts swapped letters as one edit', () => {
  assert.equal(editDistance('lsit', 'list'), 1);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});
