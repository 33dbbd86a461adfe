import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateJsonFault } from './json-fault.ts';

test('locates every kind of JSON syntax error (contract §4)', () => {
  const cases: [string, [number, number, string]][] = [
    ['{\n  "a": }', [2, 8, '"}"']],
    ['{ bad json }', [1, 3, '"b"']],
    ['{"a": 1,}', [1, 9, '"}"']],
    ['{"a": 1\n"b": 2}', [2, 1, '"\\""']],
    ['{"a": 01}', [1, 8, '"1"']],
    ["{'a': 1}", [1, 2, '"\'"']],
    ['{"a": "x\ny"}', [1, 7, '"\\""']],
    ['{"a": [1, 2}', [1, 12, '"}"']],
    ['{"a": 1} x', [1, 10, '"x"']],
    ['{"a": 1', [1, 8, 'the end of the file']],
    ['', [1, 1, 'the end of the file']],
    ['[1,,2]', [1, 4, '","']],
  ];
  for (const [text, [line, column, found]] of cases) {
    assert.throws(() => JSON.parse(text), text);
    assert.deepEqual(locateJsonFault(text), { line, column, found }, text);
  }
});
