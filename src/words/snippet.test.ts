import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { markedText } from '../../test/support/marked-text.ts';
import { makeSnippet } from './snippet.ts';
import { allOf, exactWord, nothing, plainQuery, type WordQuery } from './word-query.ts';

const filler = 'lorem ipsum dolor sit amet '.repeat(40);

function snippet(text: string, query: string, unitsMax?: number): string {
  return markedText(makeSnippet(text, plainQuery(query), unitsMax), '[', ']');
}

test('marks matches at their original positions', () => {
  assert.equal(snippet('Python is\n\n versatile. PYTHONS!', 'python'), '[Python] is versatile. [PYTHONS]!');
  assert.equal(snippet('see fooBar, multi-agent', 'foo multi-agent'), 'see [fooBar], [multi-agent]');
});

test('picks the passage with the largest number of distinct query words', () => {
  const text = `${filler}a fox here ${filler}the fox jumps over running dogs ${filler}`;
  const shown = snippet(text, 'fox run', 80);
  assert.match(shown, /^….*\[fox\] jumps over \[running\] dogs.*…$/);
  assert.ok(shown.length <= 80 + 6);
});

test('without a match, shows the start, cut between words', () => {
  assert.equal(markedText(makeSnippet(filler, nothing, 20), '[', ']'), 'lorem ipsum dolor…');
});

test('marks question words only if the query has no others', () => {
  const text = 'The incident in May was short.';
  const marked = (query: WordQuery) => markedText(makeSnippet(text, query), '[', ']');
  assert.equal(marked(allOf(['the', 'incident', 'was', 'in'].map(exactWord))), 'The [incident] in May was short.');
  assert.equal(marked(exactWord('was')), 'The incident in May [was] short.');
});

test('cuts text without spaces too', () => {
  assert.equal(snippet('我住在東京都庁附近'.repeat(10), '東京', 10), '…住在[東京]都庁附近我住…');
});

test('marks are ordered, disjoint and inside the text', () => {
  const text = fc.array(fc.oneof(fc.constantFrom('fox', ' ', '\n', '東京', '😀'), fc.string({ unit: anyCharacter })));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 60 }), (pieces, unitsMax) => {
      const { text: shown, marks } = makeSnippet(pieces.join(''), plainQuery('fox 東京 😀'), unitsMax);
      assert.ok(shown.length <= unitsMax + 2 || marks.length <= 1);
      let last = 0;
      for (const [start, end] of marks) {
        assert.ok(start >= last && start < end && end <= shown.length);
        last = end;
      }
    }),
  );
});
