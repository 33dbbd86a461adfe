import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNumbers, isLong, parseExact } from './exact-json.ts';

test('integers keep all their digits; everything else parses as JSON.parse does', () => {
  for (const text of [
    '1234567890123456789',
    '-9007199254740993',
    '{"a":[9223372036854775808,{"b":-18446744073709551616}],"c":9007199254740991}',
    `[${'9'.repeat(308)}]`,
    '{"__proto__":12345678901234567890}',
    '[0.1,1.5e+300,"12345678901234567890",null,true]',
  ]) {
    assert.equal(JSON.stringify(parseExact(text)), text);
  }
  assert.deepEqual(parseExact('[1e17, 12345678901234567.5, 9007199254740992, 1.0]'), [
    1e17,
    12345678901234568,
    9007199254740992n,
    1,
  ]);
  assert.deepEqual(parseExact(`[1e400, ${'9'.repeat(400)}]`), [Infinity, Infinity]);
  assert.throws(() => parseExact('{"a":12345678901234567890'), SyntaxError);
});

test('a bigint survives threads and JSON', () => {
  const value = { n: 1234567890123456789n };
  assert.equal(JSON.stringify(structuredClone(value), null, 1), '{\n "n": 1234567890123456789\n}');
});

test('compares numbers exactly', () => {
  assert.equal(compareNumbers(9007199254740993n, 2 ** 53), 1);
  assert.equal(compareNumbers(1e21, 10n ** 21n), 0);
  assert.equal(compareNumbers(1e21, 10n ** 21n + 1n), -1);
  assert.equal(compareNumbers(0.5, 1n), -1);
  assert.deepEqual([2 ** 53, 2 ** 53 - 1, 1e300, 0.5, 5n, '5'].map(isLong), [true, false, true, false, true, false]);
});
