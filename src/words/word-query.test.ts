import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKeywords, leavesOf, plainQuery } from './word-query.ts';

function correctable(text: string): string[] {
  return leavesOf(plainQuery(text)).flatMap((leaf) =>
    leaf.kind === 'term' && leaf.correctable ? [leaf.written ?? ''] : [],
  );
}

test('words of a sentence are correctable', () => {
  assert.deepEqual(correctable('When did we recieve the Invocie (quartrely), Jane?'), [
    'recieve',
    'invocie',
    'quartrely',
    'jane',
  ]);
  assert.deepEqual(correctable('The end of the sentense. And anothr'), ['end', 'sentense', 'anothr']);
});

test('quoted words, code, numbers and names in capitals are not corrected', () => {
  assert.deepEqual(correctable('find "recieve this" and `anothr` in “quoted text” too'), ['find']);
  assert.deepEqual(correctable('fooBar foo_bar foo-bar a.bcd path/name v2beta NASA 2026 user@host'), []);
});

test('tells keywords from questions, however few significant words a question has', () => {
  for (const text of [
    'okra',
    'backup?',
    'restore backup',
    'error in nginx',
    '"exact phrase"',
    'notes "version 2" draft',
  ]) {
    assert.equal(isKeywords(text), true, text);
  }
  const questions = [
    'how do I restore a backup',
    'Where are the backups stored?',
    "What's a collection",
    'backup restored when?',
    'Would Melanie enjoy "The Four Seasons" by Vivaldi?',
    'wie stelle ich ein Backup wieder her',
  ];
  for (const text of questions) assert.equal(isKeywords(text), false, text);
});
