import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentTermsOf } from './document-terms.ts';

const titleOf = (body: string, title = '') => documentTermsOf({ title, heading: '', body }).title.main;

test('the name of a speaker counts as a title', () => {
  assert.equal(titleOf('Caroline: I went to Rome'), ' caroline ');
  assert.equal(titleOf("Dr. Mary-Ann O'Neil: Yes"), ' dr mary ann o neil ');
  assert.equal(titleOf('Ärztin: ja'), ' arztin ');
});

test('the body keeps the name, so that phrases go on across it', () => {
  const { body } = documentTermsOf({ title: '', heading: '', body: 'Caroline: I went' });
  assert.equal(body.main, ' caroline i went ');
});

test('a title that is there stays, and what is no name is no title', () => {
  assert.equal(titleOf('Caroline: I went to Rome', 'Letters'), ' letters ');
  for (const body of [
    'http: a protocol',
    'note: buy milk',
    'One Two Three Four: too long',
    'At 10:30 we met',
    'Ann:',
  ]) {
    assert.equal(titleOf(body), '', body);
  }
});
