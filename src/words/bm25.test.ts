import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScorer, type DocumentTerms, type IndexStatistics } from './bm25.ts';
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

test('length matters little among chat turns and much among long messages', () => {
  const turn = (length: number) => score(plainQuery('fox'), `fox ${'word '.repeat(length - 1)}`);
  assert.ok(turn(10) > turn(40) && turn(40) > turn(160) && turn(160) > turn(1000));
  assert.ok(turn(10) / turn(40) < turn(100) / turn(1000));
});

test('other forms of a word count, phrases need their order, beginnings need no end', () => {
  assert.ok(score(plainQuery('foxes'), 'two foxes') > 0);
  assert.ok(score(phraseQuery('quick fox'), 'the quick fox') > 0);
  assert.equal(score(phraseQuery('quick fox'), 'the fox quick'), 0);
  assert.ok(score(prefixQuery('qui'), 'quickly') > 0);
});
