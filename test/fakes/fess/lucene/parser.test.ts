import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleQuery } from '../assemble-query.ts';
import { QuerySyntaxError } from './lexer.ts';
import { parseQuery, type Query } from './parser.ts';

const signs = { must: '+', must_not: '-', should: '' };

/** Formats a query in Lucene's own notation: `+` means required, `-` prohibited, nothing optional. */
function formatQuery(query: Query): string {
  switch (query.kind) {
    case 'boolean':
      return query.clauses
        .map(({ occur, query: inner }) => {
          return `${signs[occur]}${inner.kind === 'boolean' ? `(${formatQuery(inner)})` : formatQuery(inner)}`;
        })
        .join(' ');
    case 'term':
      return `${query.field === undefined ? '' : `${query.field}:`}${query.text}`;
    case 'pattern':
      return query.pattern;
    default:
      return query.kind;
  }
}

const parseWithLabel = (q: string, escaped = false) =>
  formatQuery(parseQuery(assembleQuery(new URLSearchParams({ q, 'fields.label': 'finance' }), escaped)));

// What Lucene's own parser makes of each query.
const expectedParses: [q: string, parsed: string][] = [
  ['foo', '+foo +label:finance'],
  ['foo OR bar', '+(foo bar) +label:finance'],
  ['foo OR', 'foo label:finance'],
  ['foo ||', 'foo label:finance'],
  ['foo NOT', '+foo -label:finance'],
  ['foo AND NOT', '+foo -label:finance'],
  ['foo \\', '+foo + label:finance'],
  ['foo AND', '+foo +label:finance'],
  ['foo label:"hr"', '+foo +label:hr +label:finance'],
  ['foo -', '+foo +- +label:finance'],
  ['foo !', '+foo +! +label:finance'],
];
for (const [q, parsed] of expectedParses) {
  test(`${q} is parsed as ${parsed}`, () => assert.equal(parseWithLabel(q), parsed));
}

test('a) OR (b closes the parentheses that Fess adds', () => {
  assert.equal(parseWithLabel('a) OR (b'), 'a b +label:finance');
});

test('text that cannot be parsed is escaped, but its last OR is still an operator', () => {
  assert.throws(() => parseWithLabel('foo: OR'), QuerySyntaxError);
  assert.equal(parseWithLabel('foo: OR', true), 'foo: label:finance');
  assert.equal(parseWithLabel('(foo OR)', true), '+(foo +OR) +label:finance');
});

test('an odd quote fails both times', () => {
  assert.throws(() => parseWithLabel('foo "bar'), QuerySyntaxError);
  assert.throws(() => parseWithLabel('foo "bar', true), QuerySyntaxError);
});

test('OR as default operator makes the label optional', () => {
  const text = assembleQuery(new URLSearchParams({ q: 'foo', 'fields.label': 'finance' }), false);
  assert.equal(formatQuery(parseQuery(text, 'OR')), 'foo label:finance');
});

test('ranges, boosts, fuzziness and escapes are understood', () => {
  assert.equal(
    formatQuery(parseQuery('a^2 b~1 "c d"~3 e\\:f timestamp:[now/d-7d TO *] \\u0041')),
    '+a +b +c d +e:f +range +A',
  );
  assert.throws(() => parseQuery('a^x'), QuerySyntaxError);
  assert.throws(() => parseQuery('[a TO b'), QuerySyntaxError);
  assert.throws(() => parseQuery('\\u00'), QuerySyntaxError);
  assert.throws(() => parseQuery('()'), QuerySyntaxError);
});
