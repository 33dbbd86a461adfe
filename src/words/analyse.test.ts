import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { analyse } from './analyse.ts';

function terms(text: string): { main: string[]; extra: string[] } {
  const main: string[] = [];
  const extra: string[] = [];
  analyse(text, (term, _start, _end, isExtra) => (isExtra ? extra : main).push(term));
  return { main, extra };
}

test('indexes a word as written and by its stem', () => {
  assert.deepEqual(terms('Running dogs'), { main: ['running', 'dogs'], extra: ['run', 'dog'] });
});

test('folds accents, case, width and ligatures', () => {
  assert.deepEqual(terms('Café CAFE ｃａｆｅ́ Straße ﬁn ΟΔΟΣ').main, ['cafe', 'cafe', 'cafe', 'strasse', 'fin', 'οδοσ']);
});

test('keeps marks that change the word: Devanagari vowels, kana voicing, Thai tones', () => {
  assert.deepEqual(terms('हिन्दी').main, ['हिन्दी']);
  assert.deepEqual(terms('が').main, ['が']);
  assert.deepEqual(terms('ข้าว').main, ['ข้าว']);
});

test('indexes identifiers whole and in parts', () => {
  assert.deepEqual(terms('fooBar'), { main: ['foobar'], extra: ['foo', 'bar'] });
  assert.deepEqual(terms('HTTPServer'), { main: ['httpserver'], extra: ['http', 'server'] });
  assert.deepEqual(terms('foo_bar'), { main: ['foo', 'bar'], extra: ['foobar'] });
  assert.deepEqual(terms('multi-agent'), { main: ['multi', 'agent'], extra: ['multiagent'] });
  assert.deepEqual(terms('a.b.c'), { main: ['a', 'b', 'c'], extra: ['a.b.c'] });
  assert.deepEqual(terms('20.04'), { main: ['20', '04'], extra: ['20.04'] });
  assert.deepEqual(terms('C++ and C#.'), { main: ['c', 'and', 'c'], extra: ['c++', 'c#'] });
});

test('ignores a possessive s', () => {
  assert.deepEqual(terms("Alice's").main, ['alice']);
});

test('indexes Chinese and Japanese as overlapping pairs plus the last character', () => {
  assert.deepEqual(terms('東京都').main, ['東京', '京都', '都']);
  assert.deepEqual(terms('ｶﾞｷﾞ').main, ['ガギ', 'ギ']);
});

test('finds Korean words without their particles', () => {
  assert.ok(terms('한국어를').main.includes('한국'));
});

test('indexes Thai by its words', () => {
  assert.deepEqual(terms('ภาษาไทย').main, ['ภาษา', 'ไทย']);
});

test('treats an emoji as a term', () => {
  assert.deepEqual(terms('ok 👍🏽!').main, ['ok', '👍']);
});

test('offsets point into the original text', () => {
  const text = 'Die Straße, fooBar und 東京都.';
  analyse(text, (term, start, end) => {
    if (term === 'strasse') assert.equal(text.slice(start, end), 'Straße');
    if (term === 'foo') assert.equal(text.slice(start, end), 'fooBar');
    if (term === '京都') assert.equal(text.slice(start, end), '京都');
  });
});

test('never emits a term that a database would split or reject as too long', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
      analyse(text, (term, start, end) => {
        assert.ok(term.length > 0 && term.length <= 130, term);
        assert.doesNotMatch(term, /[\s"*^():]/);
        assert.ok(start >= 0 && start < end && end <= text.length);
      });
    }),
  );
});

test('stops reading once it has enough', () => {
  const seen: string[] = [];
  analyse(
    'alpha beta gamma',
    (term) => seen.push(term),
    () => seen.length >= 2,
  );
  assert.deepEqual(seen, ['alpha', 'beta']);
});
