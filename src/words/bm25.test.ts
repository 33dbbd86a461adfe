import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScorer, type DocumentTerms, highestScore, type IndexStatistics, weighTerms } from './bm25.ts';
import { termText } from './term-text.ts';
import { leavesOf, phraseQuery, plainQuery, prefixQuery, type WordQuery } from './word-query.ts';

const statistics: IndexStatistics = { documents: 1000, averageLengths: { title: 3, heading: 3, body: 60 } };
const counts = new Map([
  ['fox', 10],
  ['dog', 100],
  ['quick', 50],
  ['qui*', 60],
]);

function score(query: WordQuery, body: string, title = '', heading = ''): number {
  const document: DocumentTerms = { title: termText(title), heading: termText(heading), body: termText(body) };
  return createScorer(leavesOf(query), counts, statistics)(document);
}

test('a rarer word weighs more', () => {
  assert.ok(score(plainQuery('fox dog'), 'a fox') > score(plainQuery('fox dog'), 'a dog'));
});

test('a second occurrence adds less than the first', () => {
  const [one, two, three] = ['fox', 'fox fox', 'fox fox fox'].map((body) => score(plainQuery('fox'), `${body} and`));
  assert.ok(one && two && three && two > one && three - two < two - one);
});

test('the title weighs more than a heading, and a heading more than the body', () => {
  const query = plainQuery('fox');
  const body = 'word '.repeat(60);
  assert.ok(score(query, body, 'the fox here') > score(query, body, '', 'the fox here'));
  assert.ok(score(query, body, '', 'the fox here') > score(query, `fox ${body}`));
});

test('length does not matter among chat turns, and does among long messages', () => {
  const turn = (length: number) => score(plainQuery('fox'), `fox ${'word '.repeat(length - 1)}`);
  assert.equal(turn(10), turn(60));
  assert.ok(turn(60) > turn(160) && turn(160) > turn(1000));
});

test('other forms of a word count, phrases need their order, beginnings need no end', () => {
  assert.ok(score(plainQuery('foxes'), 'two foxes') > 0);
  assert.ok(score(phraseQuery('quick fox'), 'the quick fox') > 0);
  assert.equal(score(phraseQuery('quick fox'), 'the fox quick'), 0);
  assert.ok(score(prefixQuery('qui'), 'quickly') > 0);
});

test('the terms of an explanation add up to the score', () => {
  const leaves = leavesOf(plainQuery('quick fox cat'));
  const document = { title: termText('fox'), heading: termText(''), body: termText('a quick fox') };
  const terms = weighTerms(leaves, counts, statistics)(document);
  assert.deepEqual(
    terms.map(({ term }) => term),
    ['fox', 'quick'],
  );
  const sum = terms.reduce((total, { score: each }) => total + each, 0);
  assert.ok(Math.abs(sum - createScorer(leaves, counts, statistics)(document)) < 1e-12);
  assert.ok(sum < highestScore(leaves, counts, statistics));
});
