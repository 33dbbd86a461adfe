import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isCarrelError } from '../base/errors.ts';
import { parseBooleanQuery } from './boolean-query.ts';
import { leafKey, phraseQuery, plainQuery, prefixQuery, type WordQuery } from './word-query.ts';

function show(query: WordQuery): string {
  if (query.kind === 'nothing') return 'nothing';
  if (query.kind === 'except') return `(${show(query.keep)} - ${show(query.drop)})`;
  if ('parts' in query) return `(${query.parts.map(show).join(query.kind === 'and' ? ' & ' : ' | ')})`;
  return leafKey(query);
}

const plain: Record<string, string> = {
  'What is running?': 'run',
  'who is it': '(who | is | it)',
  'cats dogs': '(cat | dog)',
  'multi-agent': '(multi | agent | multiagent)',
  'ubuntu 20.04': '(ubuntu | 20 | 04 | 20.04)',
  東京都: '(東京 | 京都)',
  猫: '猫*',
};

for (const [text, query] of Object.entries(plain)) {
  test(`the plain query ${JSON.stringify(text)} is ${query}`, () => assert.equal(show(plainQuery(text)), query));
}

const boolean: Record<string, string> = {
  'cats dogs': '(cat & dog)',
  '"machine learning" the model': '("machine learning" & the & model)',
  'comput*': 'comput*',
  'c*': 'c',
  '"rolling upd"*': '"rolling upd"*',
  'a1 AND b2': '(a1 & b2)',
  'a1 b2 OR c3': '((a1 & b2) | c3)',
  'a1 AND (b2 OR c3) NOT d4*': '((a1 & (b2 | c3)) - d4*)',
  'foo_bar AND x1': '(("foo bar" | foobar) & x1)',
  'C++ AND x1': '(c++ & x1)',
  'NOT x1': 'nothing',
  'x1 OR NOT y2': 'x1',
  'NOT NOT x1': 'x1',
  'NOT (NOT x1)': 'x1',
  'x1 -y2': '(x1 - y2)',
  'x1 -"y2 z3" !w4': '(x1 - ("y2 z3" | w4))',
  '-y2 x1': '(x1 - y2)',
  'x1 | y2': '(x1 | y2)',
  'x1|y2 || z3': '(x1 | y2 | z3)',
  'x1 or y2': '(x1 | y2)',
  'x1 and not y2': '(x1 - y2)',
  'x1 AND NOT (y2 OR z3)': '(x1 - (y2 | z3))',
  '+x1 +y2': '(x1 & y2)',
  'x1 & y2': '(x1 & y2)',
  'multi-agent AND x1': '(("multi agent" | multiagent) & x1)',
  '--force - x1': '(forc & x1)',
  'a1 AND AND b2)': '(a1 & b2)',
  '(((a1 OR b2': '(a1 | b2)',
  '%%% AND b2': 'b2',
  AND: 'and',
  '"': 'nothing',
  '*': 'nothing',
  '': 'nothing',
  'NEAR(x1 y2, 5)': '(near & x1 & y2 & 5)',
  'title : x1': '(titl & x1)',
};

for (const [text, query] of Object.entries(boolean)) {
  test(`the boolean query ${JSON.stringify(text)} is ${query}`, () =>
    assert.equal(show(parseBooleanQuery(text).query), query));
}

test('reports negations that exclude nothing', () => {
  for (const text of ['NOT x1', '-x1', 'not (x1 or y2)'])
    assert.equal(parseBooleanQuery(text).idleNegation, 'alone', text);
  assert.equal(parseBooleanQuery('x1 OR NOT y2').idleNegation, 'alternative');
  for (const text of ['x1 NOT y2', 'NOT y2 x1', 'x1'])
    assert.equal(parseBooleanQuery(text).idleNegation, undefined, text);
});

test('phrases and prefixes take any text literally', () => {
  assert.equal(show(phraseQuery('to be OR "not"')), '"to be or not"');
  assert.equal(show(prefixQuery('mach lear*')), '(mach* & lear*)');
  assert.equal(show(prefixQuery('ab cd ef')), '(ab* & cd* & ef)');
  assert.equal(show(phraseQuery('東京 tower 京')), '"東京 京 tower 京"*');
});

test('T102: rejects too many terms or too much text', () => {
  for (const text of [
    'alpha OR '.repeat(100),
    `(${'x1 AND '.repeat(70)}x2)`,
    'a'.repeat(1001),
    'ab1* '.repeat(9),
    'ab* cd* ef*',
    `${'"a1 b2" '.repeat(8)}"a1 c3"`,
  ]) {
    assert.throws(
      () => parseBooleanQuery(text).query,
      (error) => isCarrelError(error) && error.code === 'invalid_arguments',
    );
  }
});

test('a long sentence keeps its first words', () => {
  const query = plainQuery(Array.from({ length: 5000 }, (_, index) => `word${index}`).join(' '));
  assert.ok('parts' in query);
  assert.equal(query.parts.length, 43);
});

test('any text parses, and deep nesting is bounded', () => {
  const piece = fc.oneof(fc.constantFrom('(', ')', '"', '*', 'AND', 'OR', 'NOT', 'x'), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      try {
        assert.ok(depth(parseBooleanQuery(pieces.join(' ')).query) <= 64);
      } catch (error) {
        assert.ok(isCarrelError(error) && error.code === 'invalid_arguments', String(error));
      }
    }),
  );
  assert.ok(depth(parseBooleanQuery(`${'('.repeat(450)}a1 OR b2${')'.repeat(450)}`).query) <= 64);
});

function depth(query: WordQuery): number {
  if (query.kind === 'except') return 1 + Math.max(depth(query.keep), depth(query.drop));
  return 'parts' in query ? 1 + Math.max(...query.parts.map(depth)) : 1;
}
