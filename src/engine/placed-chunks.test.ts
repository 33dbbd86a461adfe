import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChunker } from './chunker.ts';
import { placedChunks, type TextToChunk } from './placed-chunks.ts';

const pages: TextToChunk = {
  text: '# One\n\nFirst page.\n\n# Two\n\nSecond page.',
  kind: 'pdf',
  marks: [
    { offset: 0, page: 1 },
    { offset: 20, page: 2 },
  ],
};

test('contract §6: a chunk knows its page and the headings above it', () => {
  assert.deepEqual(
    placedChunks(pages).map(({ headings, metadata }) => [headings, metadata]),
    [
      [['One'], { page: 1, section_header: 'One' }],
      [['Two'], { page: 2, section_header: 'Two' }],
    ],
  );
});

test('a chunk of plain text knows its lines', () => {
  const text = 'first\nparagraph\n\n## Heading\n\nlast';
  assert.deepEqual(
    placedChunks({ text, kind: 'markdown', marks: [{ offset: 0, line: 1 }] }).map(({ metadata }) => metadata),
    [
      { line_start: 1, line_end: 2 },
      { section_header: 'Heading', line_start: 4, line_end: 6 },
    ],
  );
});

test('a long text is cut on another thread, into the same chunks', async () => {
  const long: TextToChunk = { ...pages, text: `${pages.text}\n\n${'A sentence of a long text. '.repeat(4000)}` };
  const chunker = createChunker();
  assert.deepEqual(await chunker.chunk(long), placedChunks(long));
  await assert.rejects(chunker.chunk(long, AbortSignal.abort()), { name: 'AbortError' });
  await chunker.close();
});
