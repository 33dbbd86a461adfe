import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlight } from '../tools/fts-search-context.ts';
import { searchModes, wordQueryOf } from './word-modes.ts';

test('T100: no text is a syntax error in any mode, and punctuation alone finds nothing', () => {
  for (const mode of searchModes) {
    for (const text of ['"', '(', ')', 'AND', 'NOT', 'a AND', '***', 'NEAR(a b)', "o'clock", '-x', '大阪', '😀']) {
      assert.doesNotThrow(() => wordQueryOf(text, mode), `${mode} ${text}`);
    }
    assert.equal(wordQueryOf('!!! ???', mode).kind, 'nothing');
  }
});

test('T081: marks surround what was found, and those in the text are made harmless', () => {
  const query = wordQueryOf('cats', 'match');
  assert.equal(highlight('A cat, cats.', query), 'A <mark>cat</mark>, <mark>cats</mark>.');
  assert.equal(highlight('<MARK>x</mark> cat', query), '&lt;MARK>x&lt;/mark> <mark>cat</mark>');
});
