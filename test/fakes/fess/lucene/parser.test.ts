import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleQuery } from '../assemble-query.ts';
import { QuerySyntaxError } from './lexer.ts';
import { parseQuery, type Query } from './parser.ts';

/** Formats a query in Lucene's own notation: `+` means required, `-` prohibited, nothing optional. */
function shown(query: Query): string {
  switch (query.kind) {
    case 'boolean':
      return query.clauses
        .map(({ occur, query: inner }) => {
          const sign = occur === 'must' ? '+' : occur === 'must_not' ? '-' : '';
          return `${sign}${inner.kind === 'boolean' ? `(${shown(inner)})` : shown(inner)}`;
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

const glued = (q: string, escaped = false) =>
  shown(parseQuery(assembleQuery(new URLSearchParams({ q, 'fields.label': 'finance' }), escaped)));

// What Lucene's own parser makes of each query.
const measured: [q: string, parsed: string][] = [
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
for (const [q, parsed] of measured) {
  test(`${q} is parsed as ${parsed}`, () => assert.equal(glued(q), parsed));
}

test('a) OR (b closes the parentheses that Fess adds', () => {
  assert.equal(glued('a) OR (b'), 'a b +label:finance');
});

test('text that cannot be parsed is escaped, but its last OR is still an operator', () => {
  assert.throws(() => glued('foo: OR'), QuerySyntaxError);
  assert.equal(glued('foo: OR', true), 'foo: label:finance');
  assert.equal(glued('(foo OR)', true), '+(foo +OR) +label:finance');
});

test('an odd quote fails both times', () => {
  assert.throws(() => glued('foo "bar'), QuerySyntaxError);
  assert.throws(() => glued('foo "bar', true), QuerySyntaxError);
});

test('OR as default operator makes the label optional', () => {
  const text = assembleQuery(new URLSearchParams({ q: 'foo', 'fields.label': 'finance' }), false);
  assert.equal(shown(parseQuery(text, 'OR')), 'foo label:finance');
});

test('ranges, boosts, fuzziness and escapes are understood', () => {
  assert.equal(
    shown(parseQuery('a^2 b~1 "c d"~3 e\\:f timestamp:[now/d-7d TO *] \\u0041')),
    '+a +b +c d +e:f +range +A',
  );
  assert.throws(() => parseQuery('a^x'), QuerySyntaxError);
  assert.throws(() => parseQuery('[a TO b'), QuerySyntaxError);
  assert.throws(() => parseQuery('\\u00'), QuerySyntaxError);
  assert.throws(() => parseQuery('()'), QuerySyntaxError);
});
