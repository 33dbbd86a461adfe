import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChunker } from './chunker.ts';
import { positionedChunks, type TextToChunk } from './positioned-chunks.ts';

const pages: TextToChunk = {
  text: '# One\n\nFirst page.\n\n# Two\n\nSecond page.',
  kind: 'pdf',
  marks: [
    { offset: 0, page: 1 },
    { offset: 20, page: 2 },
  ],
};

test('contract §6: a chunk has its page and the headings above it', () => {
  assert.deepEqual(
    positionedChunks(pages).map(({ headings, metadata }) => [headings, metadata]),
    [
      [['One'], { page: 1, section_header: 'One' }],
      [['Two'], { page: 2, section_header: 'Two' }],
    ],
  );
});

test('contract §6: no chunk spans two pages', () => {
  const text = 'The harbour opens in May.\n\nThe lock takes two boats.\n\nThe fee is nine crowns.';
  const marks = [0, text.indexOf('The lock'), text.indexOf('The fee')].map((offset, index) => ({
    offset,
    page: index + 1,
  }));
  assert.deepEqual(
    positionedChunks({ text, kind: 'pdf', marks }).map((chunk) => [chunk.text, chunk.metadata]),
    [
      ['The harbour opens in May.', { page: 1 }],
      ['The lock takes two boats.', { page: 2 }],
      ['The fee is nine crowns.', { page: 3 }],
    ],
  );
});

test('a chunk of plain text has its line numbers', () => {
  const text = 'first\nparagraph\n\n## Heading\n\nlast';
  assert.deepEqual(
    positionedChunks({ text, kind: 'markdown', marks: [{ offset: 0, line: 1 }] }).map(({ metadata }) => metadata),
    [
      { line_start: 1, line_end: 2 },
      { section_header: 'Heading', line_start: 4, line_end: 6 },
    ],
  );
});

const sentences = (count: number): string => 'A sentence of about forty characters here. '.repeat(count).trim();

test('a short text is one chunk, and a long one is not', () => {
  const cut = (text: string, more: Partial<TextToChunk> = {}) =>
    positionedChunks({ text, kind: 'text', marks: [], ...more });
  const abstract = sentences(60);
  assert.deepEqual(
    cut(abstract).map(({ text }) => text),
    [abstract],
  );
  assert.ok(cut(sentences(80)).length > 2);
  const paragraphs = `${sentences(20)}\n\n${sentences(20)}`;
  assert.equal(cut(paragraphs).length, 1);
  const marks = [
    { offset: 0, page: 1 },
    { offset: sentences(20).length, page: 2 },
  ];
  assert.ok(cut(paragraphs, { marks }).length > 1, 'pages stay separate');
  const lines = Array.from({ length: 40 }, (_, index) => `    value_${index} = a * ${index} + b  # step ${index}`);
  const code = ['def compute(a, b):', ...lines, '    return value_1'].join('\n');
  assert.equal(cut(code, { kind: 'code', codeLanguage: 'python' }).length, 1);
});

test('a short note is one chunk despite headings', () => {
  const text =
    '# compute the sum\ndef add(a, b):\n    return a + b\n\n# and more of it\ndef more(a):\n    return add(a, 1)';
  const lines = { offset: 0, line: 1 };
  const [only, ...others] = positionedChunks({ text, kind: 'markdown', marks: [lines], isNote: true });
  assert.deepEqual([only?.text, only?.headings, others], [text, [], []]);
  assert.deepEqual(only?.metadata, { line_start: 1, line_end: 7 });
});

test('chunks a long text on another thread, with the same result', async () => {
  const long: TextToChunk = { ...pages, text: `${pages.text}\n\n${'A sentence of a long text. '.repeat(4000)}` };
  const chunker = createChunker();
  assert.deepEqual(await chunker.chunk(long), positionedChunks(long));
  await assert.rejects(chunker.chunk(long, AbortSignal.abort()), { name: 'AbortError' });
  await chunker.close();
});
