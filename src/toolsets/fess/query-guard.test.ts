import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { guardQuery, requireLabel } from './query-guard.ts';

describe('plain queries go out as they are', () => {
  const plain = [
    'test',
    'quarterly report',
    'e-mail address',
    'title:report',
    '"annual report" 2025',
    '-draft report',
    '+must have',
    'Räume buchen',
    '四半期 報告書',
    'oracle and android',
    '*:*',
    '*',
    'label:"hr" report',
    'allintitle:report',
    '🎉',
    'party 🎉',
    '👩‍💻 ❤️ 👍🏽 🇩🇪',
    '№ 5 → 7 €',
  ];
  for (const query of plain) test(query, () => assert.equal(guardQuery(query), query));
});

describe('well-formed queries go out in parentheses', () => {
  const rendered: [query: string, sent: string][] = [
    ['foo OR bar', '((foo)OR bar)'],
    ['foo || bar && baz', '((foo)OR bar AND baz)'],
    ['foo\tOR\u3000bar', '((foo)OR bar)'],
    ['(a OR b) AND NOT c', '(( (a)OR b ) AND NOT c)'],
    ['!draft', '(NOT draft)'],
    ['a OR -b', '((a)OR NOT b)'],
    ['a OR +b', '((a)OR b)'],
    ['test*', '(test*)'],
    ['te?t fuzzy~1 boosted^2', '(te?t fuzzy~1 boosted^2)'],
    ['"a b"~3 OR c', '(("a b"~3)OR c)'],
    ['title:(a OR b)', '(title:( (a)OR b ))'],
    ['timestamp:[now/d-7d TO *]', '(timestamp:[now/d-7d TO *])'],
    ['content_length:{100 TO 200]', '(content_length:{100 TO 200])'],
    ['*:* NOT draft', '(*:* NOT draft)'],
    ['https://example.com/a?b', '(https\\:\\/\\/example.com\\/a?b)'],
    ['AC\\/DC', '(AC\\/DC)'],
    ['"say \\"hello\\" now"', '("say   hello   now")'],
    ['report sort:created.asc', '(report sort\\:created.asc)'],
    ['allintitle: foo OR bar', 'allintitle:((foo)OR bar)'],
    ['x] OR [y', '((x\\])OR \\[y)'],
    ['\\OR foo', '("OR" foo)'],
    ['🎉 OR ☕', '((🎉)OR ☕)'],
    ['title:🎉 !☕', '(title:🎉 NOT ☕)'],
  ];
  for (const [query, sent] of rendered) test(query, () => assert.equal(guardQuery(query), sent));
});

describe("queries that would undo the label or can't be parsed become literal text (reference §4.3)", () => {
  const literal: [query: string, sent: string][] = [
    ['foo OR', 'foo'],
    ['foo ||', 'foo'],
    ['foo NOT', 'foo'],
    ['foo AND NOT', 'foo'],
    ['foo: OR', 'foo\\:'],
    ['foo \\', 'foo'],
    ['foo\\', 'foo'],
    ['a) OR (b', 'a b'],
    ['foo -', 'foo'],
    ['(foo OR)', 'foo'],
    ['foo "bar', 'foo bar'],
    ['foo "bar\\"', 'foo bar'],
    ['Fess - the manual', 'Fess the manual'],
    ['() foo', 'foo'],
    ['NOT NOT foo', 'foo'],
    ['C++ OR', 'C\\+\\+'],
    ['foo\u0000OR', 'foo'],
    ['🎉 OR', '🎉'],
    ['(🎉', '🎉'],
    ['🎉 \\', '🎉'],
  ];
  for (const [query, sent] of literal) test(JSON.stringify(query), () => assert.equal(guardQuery(query), sent));
});

test('rejects a query without words, naming the field', () => {
  for (const query of ['', '  ', 'OR', 'NOT', '((', '""', '\\', '&& ||', '\u0000', '\ud83c', '…', '+ $']) {
    assert.throws(() => guardQuery(query), { code: 'invalid_arguments', data: { field: 'query' } }, query);
  }
});

test('limits the query length, including escapes', () => {
  assert.equal(guardQuery('x'.repeat(1000)).length, 1000);
  assert.throws(() => guardQuery('x'.repeat(1001)), { code: 'invalid_arguments' });
  assert.throws(() => guardQuery(`a OR ${'/x'.repeat(400)}`), { code: 'invalid_arguments' });
});

test('the strict form requires query and label under any default operator', () => {
  assert.equal(requireLabel('test', 'hr'), '+(test) +label:"hr"');
  assert.equal(requireLabel('allintitle:(a)', 'hr'), 'allintitle:+((a)) +label:"hr"');
});

test('removes any OR that would put the label in parentheses', () => {
  const spaces = [' ', '\t', '\u00a0', '\u200b', '\ufeff', '\u3000'];
  for (const space of spaces) {
    for (const query of [
      'a OR b',
      '"a OR b"',
      '"a || b" c',
      'x OR "a OR b" || y',
      '(a b) OR (c d)',
      'a OR NOT b OR c',
    ]) {
      const sent = guardQuery(query.replaceAll(' ', space));
      assert.doesNotMatch(sent.replaceAll(/[\s\u200b-\u200f\ufeff]/gu, ' '), / (?:OR|\|\|) /, sent);
    }
  }
});

test('replaces lone surrogates', () => {
  assert.equal(guardQuery('a\ud800b OR c').isWellFormed(), true);
});
