import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { analyse } from './analyse.ts';
import { irregularEnglish } from './irregular-english.ts';
import { termText } from './term-text.ts';

test('the terms are those of the analysis, with a space at both ends', () => {
  assert.deepEqual(termText('The  running\tfoxes,\n(Foxes) ran.'), {
    main: ' the running foxes foxes ran ',
    extra: ' run fox fox run ',
    length: 5,
  });
  assert.deepEqual(termText(' … \0 - '), { main: '', extra: '', length: 0 });
});

test('pieces that are not one plain word are tokenised as the analysis does it', () => {
  const signs = [...' .,;:!?\'"()-_/+#*\t\n\0', ' ', '’', '…', '。'];
  const words = [
    'went',
    'Fed',
    'children',
    'word',
    'Words',
    'runs',
    'fooBar',
    'HTTP',
    'A1B',
    'x',
    '20',
    'c',
    'C',
    'café',
    '東京都',
    '한국어',
    'ไทย',
    '😀',
    'ﬁ',
    '½',
  ];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...signs), fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 3 })))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (sample) => {
      assert.deepEqual(termText(sample), plainly(sample));
    }),
    { numRuns: 2000 },
  );
});

test('every irregular form leads to the stem of its word, as in the analysis', () => {
  const forms = [...irregularEnglish.keys()];
  assert.deepEqual(termText(forms.join(' ')), plainly(forms.join(' ')));
  assert.deepEqual(termText('I went; they Understood children'), {
    main: ' i went they understood children ',
    extra: ' go thei understand child ',
    length: 5,
  });
});

test('a text longer than the room for its terms, of long and short words, keeps all of them', () => {
  const text = `${'word '.repeat(3000)}${'x'.repeat(64)} ${'y'.repeat(65)} ${'running '.repeat(3000)}`;
  assert.deepEqual(termText(text), plainly(text));
});

function plainly(text: string) {
  const main: string[] = [];
  const extra: string[] = [];
  analyse(text, (term, _start, _end, isExtra) => (isExtra ? extra : main).push(term));
  const joined = (terms: string[]) => (terms.length === 0 ? '' : ` ${terms.join(' ')} `);
  return { main: joined(main), extra: joined(extra), length: main.length };
}
