import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance } from './edit-distance.ts';
import { createVocabulary, spellingsIn } from './vocabulary.ts';

function vocabularyOf(...terms: string[]) {
  const vocabulary = createVocabulary();
  vocabulary.add(terms);
  return vocabulary;
}

test('finds words one edit away, or two for words of eight letters or more', () => {
  const vocabulary = vocabularyOf('invoice', 'receive', 'quarterly', 'marmalade', 'привет');
  for (const slip of ['invoce', 'invoicee', 'invoise', 'invocie', 'nvoice', 'xinvoice']) {
    assert.deepEqual(vocabulary.nearest(slip), ['invoice'], slip);
  }
  assert.deepEqual(vocabulary.nearest('invose'), []);
  assert.deepEqual(vocabulary.nearest('quartrely'), ['quarterly']);
  assert.deepEqual(vocabulary.nearest('kwarterly'), ['quarterly']);
  assert.deepEqual(vocabulary.nearest('mamrelade'), ['marmalade']);
  assert.deepEqual(vocabulary.nearest('mamrelate'), []);
  assert.deepEqual(vocabulary.nearest('првиет'), ['привет']);
});

test('returns only the nearest, same first letter first', () => {
  const vocabulary = vocabularyOf('parties', 'particle', 'articles', 'particles');
  assert.deepEqual(vocabulary.nearest('partcles'), ['particles']);
  assert.deepEqual(vocabularyOf('coat', 'goal', 'goat').nearest('goaf'), ['goal', 'goat']);
  assert.deepEqual(vocabularyOf('boat', 'goal').nearest('goat'), ['goal', 'boat']);
});

test('finds the same words as a full comparison', () => {
  const letters = 'abc';
  const words = Array.from({ length: 600 }, (_, number) =>
    Array.from(
      { length: 4 + (number % 6) },
      (_, place) => letters[(number * (place + 3) + (number >> place)) % 3],
    ).join(''),
  );
  const distinct = [...new Set(words)];
  const vocabulary = vocabularyOf(...distinct);
  for (const word of ['abcabcab', 'bbbbbb', 'cabcabcabc', 'aaaa']) {
    const max = word.length < 8 ? 1 : 2;
    const nearest = Math.min(...distinct.map((other) => editDistance(word, other)));
    const expected = nearest > max ? [] : distinct.filter((other) => editDistance(word, other) === nearest);
    const found = vocabulary.nearest(word);
    assert.equal(found.length, Math.min(16, expected.length), word);
    assert.ok(found.every((other) => expected.includes(other)));
  }
});

test('finds words that are added later', () => {
  const vocabulary = vocabularyOf('invoice');
  assert.deepEqual(vocabulary.nearest('ledgre'), []);
  vocabulary.add(['ledger', 'invoice']);
  assert.deepEqual(vocabulary.nearest('ledgre'), ['ledger']);
  assert.equal(vocabulary.size, 2);
});

test('keeps words of four letters or more, without digits, of scripts with spaces', () => {
  const found = spellingsIn([' the invoice a1b2c3 naïve c++ ', ' invoice 東京都庁 ภาษาไทย привет ']);
  assert.deepEqual([...found], ['invoice', 'naïve', 'привет']);
});
