import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentTermsOf } from './document-terms.ts';

const titleOf = (body: string, title = '') => documentTermsOf({ title, heading: '', body }).title.main;

test('counts the name of a speaker as a title', () => {
  assert.equal(titleOf('Caroline: I went to Rome'), ' caroline ');
  assert.equal(titleOf("Dr. Mary-Ann O'Neil: Yes"), ' dr mary ann o neil ');
  assert.equal(titleOf('Ärztin: ja'), ' arztin ');
});

test('the body keeps the name, so that phrases can span it', () => {
  const { body } = documentTermsOf({ title: '', heading: '', body: 'Caroline: I went' });
  assert.equal(body.main, ' caroline i went ');
});

test('keeps an existing title and takes only names as titles', () => {
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
