import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanText, collapseLines } from './clean-text.ts';

test('text that nobody sees is removed (T091)', () => {
  const hidden = [
    '\u200b',
    '\u200e',
    '\u202e',
    '\u2060',
    '\u2066',
    '\ufeff',
    '\u00ad',
    '\u{e0041}',
    '\ufe01',
    '\u0000',
    '\u001b',
    '\u200d',
  ];
  for (const character of hidden)
    assert.equal(cleanText(`pay${character}load`), 'payload', character.codePointAt(0)?.toString(16));
  const message = [...'ignore'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  assert.equal(cleanText(`a${message}b`), 'ab');
});

test('what writing needs stays: emoji sequences, flags, joiners of Persian and Hindi, tabs and line breaks', () => {
  for (const text of ['👩‍👩‍👧 ❤️ 1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'می‌خواهم', 'क्‍ष', 'a\tb\nc', 'naïve ☎︎']) assert.equal(cleanText(text), text);
});

test('empty lines are collapsed to one and trailing space goes', () => {
  assert.equal(collapseLines('\n\na  \n\n\n \nb\n'), 'a\n\nb');
});
