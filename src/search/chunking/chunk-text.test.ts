import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { size } from '../../../test/support/sizes.ts';
import type { Chunk } from './chunk.ts';
import { chunkText } from './chunk-text.ts';
import { looksLikeCode } from './code-shape.ts';

const document = `# Manual

Welcome to the manual. It is short.

## Install

Run this:

\`\`\`sh
npm ci

npm start
# not a heading
\`\`\`

Then open the page.

## Tables

| name | value |
|------|-------|
| a    | 1     |
| b    | 2     |

Setext
------

The last words.
`;

test('chunks are slices of the original and carry the headings above them', () => {
  const chunks = chunkText(document, 120);
  for (const { start, end, text } of chunks) assert.equal(text, document.slice(start, end));
  const byStart = Object.fromEntries(chunks.map(({ text, titlePath }) => [text.slice(0, 12), titlePath.join(' > ')]));
  assert.deepEqual(byStart, {
    '# Manual\n\nWe': 'Manual',
    '## Install\n\n': 'Manual > Install',
    '## Tables\n\n|': 'Manual > Tables',
    'Setext\n-----': 'Manual > Setext',
  });
});

test('never splits a code block that fits, even at blank lines', () => {
  const chunks = chunkText(document, 60);
  const holder = chunks.find(({ text }) => text.includes('npm ci'));
  assert.match(holder?.text ?? '', /```sh\nnpm ci\n\nnpm start\n# not a heading\n```/);
  assert.equal(holder?.titlePath.includes('not a heading'), false);
});

test('keeps a table that fits whole', () => {
  const chunks = chunkText(document, 120);
  assert.ok(chunks.some(({ text }) => text.includes('| name') && text.includes('| b ')));
});

test('never leaves a heading alone at the end of a chunk', () => {
  const text = `${'One sentence here. '.repeat(6)}\n\n# Next\n\nIts text.`;
  const chunks = chunkText(text, 125);
  assert.deepEqual(
    chunks.map((chunk) => chunk.text.slice(0, 6)),
    ['One se', '# Next'],
  );
});

test('splits a long paragraph between sentences', () => {
  const sentences = Array.from({ length: 30 }, (_, index) => `Sentence number ${index} says what it says.`);
  const chunks = chunkText(sentences.join(' '), 200);
  assert.ok(chunks.length > 4);
  for (const { text } of chunks) assert.match(text, /^Sentence .*says\.$/s);
});

test('splits long code at line ends', () => {
  const code = `\`\`\`\n${Array.from({ length: 40 }, (_, index) => `call(${index});`).join('\n')}\n\`\`\``;
  for (const { text } of chunkText(code, 100)) assert.match(text, /^(?:```|call\(\d+\);)[\s\S]*(?:;|```)$/);
});

test('recognises code without fences', () => {
  assert.ok(looksLikeCode('def area(width, height):\n    """Area of a box."""\n    return width * height\n'));
  assert.ok(!looksLikeCode('The function returns the area; we import it from there.'));
});

test('understands wiki headings and an unclosed fence', () => {
  const wiki = chunkText(' = Valkyria = \n\n Text of it . \n\n = = Plot = = \n\n More . \n');
  assert.deepEqual(
    wiki.map(({ titlePath }) => titlePath),
    [['Valkyria'], ['Valkyria', 'Plot']],
  );
  assert.equal(chunkText('```\nopen for ever\n\n# really').length, 1);
});

test('puts every non-space character into exactly one chunk', () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.constantFrom(
      '# A',
      '## B',
      '```',
      '| a | b |',
      '',
      '',
      'Word. Other word. 漢字です。',
      '---',
      '👩‍👩‍👧 x',
      '= t =',
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 16, max: 120 }), (lines, unitsMax) => {
      const text = lines.join('\n');
      const chunks = chunkText(text, unitsMax);
      assertCovers(text, chunks);
      for (const chunk of chunks) {
        assert.ok(chunk.text.length <= unitsMax, `${chunk.text.length} > ${unitsMax}`);
        assert.ok(!text.isWellFormed() || chunk.text.isWellFormed());
      }
    }),
    { numRuns: size({ quick: 100, full: 300 }) },
  );
});

function assertCovers(text: string, chunks: readonly Chunk[]): void {
  let at = 0;
  for (const { start, end } of chunks) {
    assert.ok(start >= at && end > start);
    assert.equal(text.slice(at, start).trim(), '');
    at = end;
  }
  assert.equal(text.slice(at).trim(), '');
}

test('does not copy a very long heading into every chunk below it', () => {
  const text = `# ${'word '.repeat(40_000)}\n\n${'A sentence of the text. '.repeat(4_000)}`;
  const headings = chunkText(text).reduce((sum, { titlePath }) => sum + titlePath.join('').length, 0);
  assert.ok(headings < text.length, `${headings} characters of headings for ${text.length} of text`);
});
