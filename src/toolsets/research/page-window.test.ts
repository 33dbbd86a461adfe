import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { windowAt } from './page-window.ts';

test('returns a short text whole', () => {
  assert.deepEqual(windowAt('short', 0, 100), { content: 'short', end: 5 });
  assert.deepEqual(windowAt('short', 2, 3), { content: 'ort', end: 5 });
});

test('ends after a paragraph, else a sentence, a line, a word', () => {
  assert.equal(windowAt('One two. Three.\n\nFour five six seven', 0, 25).content, 'One two. Three.\n\n');
  assert.equal(windowAt('One two three. Four five six seven', 0, 20).content, 'One two three. ');
  assert.equal(windowAt('東京は日本の首都です。大阪は西にあります。', 0, 15).content, '東京は日本の首都です。');
  assert.equal(windowAt('one two three\nfour five six seven', 0, 20).content, 'one two three\n');
  assert.equal(windowAt('one two three four five six seven', 0, 20).content, 'one two three four ');
  assert.equal(windowAt('a'.repeat(50), 0, 20).content, 'a'.repeat(20));
});

test('ignores breaks that would leave too much of the window unused', () => {
  assert.equal(windowAt(`One.\n\n${'a'.repeat(100)}`, 0, 50).content.length, 50);
});

test('windows cover the whole text, respect the limit and split no character', () => {
  const unit = fc.constantFrom('a', 'word ', '. ', '\n\n', '\n', '😀', '👩‍👩‍👧', 'é', '。', ' ', '"', ')');
  const text = fc.array(unit, { maxLength: 200 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 60 }), (whole, charsMax) => {
      let joined = '';
      let start = 0;
      while (start < whole.length) {
        const { content, end } = windowAt(whole, start, charsMax);
        assert.ok(end > start);
        assert.ok(content.length <= Math.max(charsMax, 2));
        assert.ok(content.isWellFormed());
        joined += content;
        start = end;
      }
      assert.equal(joined, whole);
    }),
  );
});

test('a start inside a character begins with that character', () => {
  assert.equal(windowAt('😀😀', 1, 10).content, '😀😀');
});
