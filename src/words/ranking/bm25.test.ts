import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DocumentTerms, termText } from '../document-terms.ts';
import { leafKey, leavesOf, phraseQuery, plainQuery, prefixQuery, type WordQuery } from '../word-query.ts';
import { countedLeaves, createScorer, highestScore, type IndexStatistics, scoreTerms } from './bm25.ts';

const statistics: IndexStatistics = { documents: 1000, averageLengths: { title: 3, heading: 3, body: 60 } };
const counts = new Map([
  ['fox', 10],
  ['dog', 100],
  ['quick', 50],
  ['qui*', 60],
]);

function score(query: WordQuery, body: string, title = '', heading = ''): number {
  const document: DocumentTerms = { title: termText(title), heading: termText(heading), body: termText(body) };
  return createScorer(leavesOf(query), counts, statistics)(document).score;
}

test('a rarer word scores higher', () => {
  assert.ok(score(plainQuery('fox dog'), 'a fox') > score(plainQuery('fox dog'), 'a dog'));
});

test('a second occurrence adds less than the first', () => {
  const [one, two, three] = ['fox', 'fox fox', 'fox fox fox'].map((body) => score(plainQuery('fox'), `${body} and`));
  assert.ok(one && two && three && two > one && three - two < two - one);
});

test('the title scores higher than a heading, and a heading higher than the body', () => {
  const query = plainQuery('fox');
  const body = 'word '.repeat(60);
  assert.ok(score(query, body, 'the fox here') > score(query, body, '', 'the fox here'));
  assert.ok(score(query, body, '', 'the fox here') > score(query, `fox ${body}`));
});

test('length matters among long messages, not among chat turns', () => {
  const turn = (length: number) => score(plainQuery('fox'), `fox ${'word '.repeat(length - 1)}`);
  assert.equal(turn(10), turn(80));
  assert.ok(turn(80) > turn(160) && turn(160) > turn(1000));
});

test('among long messages, only a much shorter one gains', () => {
  const long: IndexStatistics = { documents: 1000, averageLengths: { title: 0, heading: 0, body: 400 } };
  const message = (length: number) => {
    const body = termText(`fox ${'word '.repeat(length - 1)}`);
    return createScorer(leavesOf(plainQuery('fox')), counts, long)({ title: termText(''), heading: termText(''), body })
      .score;
  };
  assert.equal(message(300), message(400));
  assert.ok(message(150) > message(300) && message(80) > message(150));
  assert.equal(message(20), message(80));
  assert.ok(message(400) > message(500));
});

test('the exact form of a word adds a bonus, once, by its rarity', () => {
  const seen = new Map([...counts, ['foxes', 2]]);
  const scoreOf = (query: string, body: string) => {
    const document = { title: termText(''), heading: termText(''), body: termText(body) };
    return createScorer(leavesOf(plainQuery(query)), seen, statistics)(document).score;
  };
  const gain = scoreOf('foxes', 'two foxes') - scoreOf('foxes', 'one fox');
  assert.ok(gain > 0);
  assert.ok(Math.abs(scoreOf('foxes', 'foxes, foxes') - scoreOf('foxes', 'fox, fox') - gain) < 1e-12);
  const commonGain = scoreOf('fox', 'one fox') - scoreOf('fox', 'two foxes');
  assert.ok(commonGain > 0 && commonGain < gain);
  assert.deepEqual(countedLeaves(leavesOf(plainQuery('foxes'))).map(leafKey), ['fox', 'foxes']);
});

test('matches other forms, phrases in order, and prefixes', () => {
  assert.ok(score(plainQuery('foxes'), 'two foxes') > 0);
  assert.ok(score(phraseQuery('quick fox'), 'the quick fox') > 0);
  assert.equal(score(phraseQuery('quick fox'), 'the fox quick'), 0);
  assert.ok(score(prefixQuery('qui'), 'quickly') > 0);
});

test('the terms of an explanation add up to the score', () => {
  const leaves = leavesOf(plainQuery('quick fox cat'));
  const document = { title: termText('fox'), heading: termText(''), body: termText('a quick fox') };
  const terms = scoreTerms(leaves, counts, statistics)(document);
  assert.deepEqual(
    terms.map(({ term }) => term),
    ['fox', 'quick'],
  );
  const sum = terms.reduce((total, { score: each }) => total + each, 0);
  const { score: whole, covered } = createScorer(leaves, counts, statistics)(document);
  assert.ok(Math.abs(sum - whole) < 1e-12);
  const highest = terms.reduce((total, each) => total + each.highest, 0);
  assert.ok(Math.abs(highest - covered) < 1e-12);
  assert.ok(sum < highestScore(leaves, counts, statistics));
});
