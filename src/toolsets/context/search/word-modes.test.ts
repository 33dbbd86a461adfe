import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlight } from './highlight.ts';
import { adaptiveQuery, searchModes, wordQueryOf } from './word-modes.ts';

test('T100: no text is a syntax error in any mode, and punctuation alone finds nothing', () => {
  for (const mode of searchModes) {
    for (const text of ['"', '(', ')', 'AND', 'NOT', 'a AND', '***', 'NEAR(a b)', "o'clock", '-x', '大阪', '😀']) {
      assert.doesNotThrow(() => wordQueryOf(text, mode), `${mode} ${text}`);
    }
    assert.equal(wordQueryOf('!!! ???', mode).kind, 'nothing');
  }
});

test('upstreams 1.11: short queries want every word, questions any of them', () => {
  assert.deepEqual(
    [adaptiveQuery('billing database').mode, adaptiveQuery('billing database').query.kind],
    ['match', 'and'],
  );
  assert.deepEqual(adaptiveQuery('which database holds the billing').mode, 'boolean');
  assert.equal(adaptiveQuery('which database holds the billing').query.kind, 'or');
});

test('T081: marks surround what was found, and those in the text are made harmless', () => {
  const query = wordQueryOf('cats', 'match');
  assert.equal(highlight('A cat, cats.', query), 'A <mark>cat</mark>, <mark>cats</mark>.');
  assert.equal(highlight('<MARK>x</mark> cat', query), '&lt;MARK>x&lt;/mark> <mark>cat</mark>');
});
