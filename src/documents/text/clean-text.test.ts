import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanText, collapseLines } from './clean-text.ts';

test('removes invisible text (T091)', () => {
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
    '\u115f',
    '\u1160',
    '\u115f\u1160',
    '\u3164',
    '\uffa0',
    '\u17b4',
    '\u17b5',
    '\u180b',
    '\u180f',
    '\u2064',
    '\ufff0',
    '\u{1bca0}',
    '\u{1d173}',
    '\u{1d17a}',
    '\u{e0100}',
  ];
  for (const character of hidden)
    assert.equal(cleanText(`pay${character}load`), 'payload', character.codePointAt(0)?.toString(16));
  const message = [...'ignore'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  assert.equal(cleanText(`a${message}b`), 'ab');
});

test('keeps characters that scripts need: emoji sequences, flags, joiners of Persian and Hindi, tabs and line breaks', () => {
  for (const text of ['\u1100\u1160', '\u115f\u1161', 'ᠠ\u180b', 'ភាសាខ្មែរ', '한국어'])
    assert.equal(cleanText(text), text);
  for (const text of ['👩‍👩‍👧 ❤️ 1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'می‌خواهم', 'क्‍ष', 'a\tb\nc', 'naïve ☎︎']) assert.equal(cleanText(text), text);
});

test('removes every invisible Unicode character between letters', () => {
  const ignorable = /\p{Default_Ignorable_Code_Point}/u;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCodePoint(code);
    if (ignorable.test(character)) assert.equal(cleanText(`pay${character}load`), 'payload', code.toString(16));
  }
});

test('collapses empty lines to one and removes trailing space', () => {
  assert.equal(collapseLines('\n\na  \n\n\n \nb\n'), 'a\n\nb');
});
