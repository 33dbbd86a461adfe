import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from './json-schema.ts';
import { boundedText } from './text-input.ts';

test('bounds count characters, not UTF-16 units', () => {
  const text = boundedText({ max: 3 });
  assert.equal(text.safeParse('😀😀😀').success, true);
  assert.equal(text.safeParse('😀😀😀😀').success, false);
  assert.equal(text.safeParse('abcd').success, false);
});

test('required text is not blank, and trimmed on request', () => {
  for (const blank of [' \t\n', '\u200b', '\u2060\u{e0041}', '\u0007']) {
    assert.equal(boundedText({ required: true, max: 3 }).safeParse(blank).success, false);
  }
  assert.equal(boundedText({ required: true, max: 3, trim: true }).parse('  abc  '), 'abc');
});

test('the schema shows the bounds', () => {
  assert.deepEqual(toJsonSchema(boundedText({ required: true, max: 200 }), 'input'), {
    type: 'string',
    minLength: 1,
    maxLength: 200,
  });
});
