import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeHint, queryWords, searchModes, wordQueryOf } from './query-words.ts';
import { highlight } from './text-thread.ts';

test('T100: no text is a syntax error in any mode, and punctuation alone finds nothing', () => {
  for (const mode of searchModes) {
    for (const text of ['"', '(', ')', 'AND', 'NOT', 'a AND', '***', 'NEAR(a b)', "o'clock", '-x', '大阪', '😀']) {
      assert.doesNotThrow(() => wordQueryOf(text, mode), `${mode} ${text}`);
    }
    assert.equal(wordQueryOf('!!! ???', mode).kind, 'nothing');
  }
});

test('T081: marks matches, and escapes existing marks', () => {
  const query = wordQueryOf('cats', 'match');
  assert.equal(highlight('A cat, cats.', query), 'A <mark>cat</mark>, <mark>cats</mark>.');
  assert.equal(highlight('<MARK>x</mark> cat', query), '&lt;MARK>x&lt;/mark> <mark>cat</mark>');
});

test('marks a whole phrase, but not its words elsewhere', () => {
  const text = 'Blue green deployment; the green one, and a deployment.';
  const marked = 'Blue <mark>green deployment</mark>; the green one, and a deployment.';
  assert.equal(highlight(text, wordQueryOf('green deployment', 'phrase')), marked);
  assert.equal(highlight(text, wordQueryOf('"green deploy"*', 'boolean')), marked);
  assert.equal(
    highlight('this and that or those', wordQueryOf('or', 'boolean')),
    'this and that <mark>or</mark> those',
  );
  assert.equal(highlight('東京都庁', wordQueryOf('東京都', 'phrase')), '<mark>東京都</mark>庁');
});

test('a word with a star is a prefix in mode match', () => {
  assert.deepEqual(
    queryWords('inde* the wh* (sql*)').map(({ word, query }) => [word, query.kind]),
    [
      ['inde*', 'prefix'],
      ['wh*', 'prefix'],
      ['(sql*)', 'term'],
    ],
  );
});

test('explains how a mode reads the query differently', () => {
  assert.match(modeHint('use -sqlite', 'match') ?? '', /mode boolean/);
  assert.match(modeHint('a OR b', 'match') ?? '', /mode boolean/);
  assert.match(modeHint('-sqlite', 'boolean') ?? '', /only exclusions/);
  assert.match(modeHint('ab cd ef', 'prefix') ?? '', /"ef"/);
  for (const mode of searchModes) assert.equal(modeHint('plain multi-agent words', mode), undefined, mode);
});
