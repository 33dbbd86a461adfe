import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../../answers/token-estimate.ts';
import type { EngineChunk } from '../../../engine/engine.ts';
import { outlineOf } from './outline.ts';

function chunksAt(...list: EngineChunk['chunk_metadata'][]): EngineChunk[] {
  return list.map((metadata, index) => ({ id: index, chunk_index: index, text: 'x', chunk_metadata: metadata }));
}

test('has an entry for each new page and heading', () => {
  const chunks = chunksAt(
    { page: 1 },
    { page: 1, section_header: 'One' },
    { page: 1, section_header: 'One' },
    { page: 2, section_header: 'One' },
    { page: 2, section_header: 'One > Two' },
    { page: 2, section_header: 'One' },
  );
  assert.deepEqual(outlineOf(chunks, 1_000), [
    { chunk_index: 0, page: 1 },
    { chunk_index: 1, page: 1, heading: 'One' },
    { chunk_index: 3, page: 2 },
    { chunk_index: 4, page: 2, heading: 'One > Two' },
    { chunk_index: 5, page: 2, heading: 'One' },
  ]);
  assert.deepEqual(outlineOf(chunksAt({}, { line_start: 3 }), 1_000), []);
});

test('an overlong outline loses levels, then entries, but still covers the document', () => {
  const deep = chunksAt(
    ...Array.from({ length: 400 }, (_, index) => ({
      page: index,
      section_header: `Part ${Math.floor(index / 40)} > Chapter ${Math.floor(index / 4)} > Section ${index}`,
    })),
  );
  const parts = outlineOf(deep, 300);
  assert.deepEqual([parts.length, parts[1]], [10, { chunk_index: 40, page: 40, heading: 'Part 1' }]);

  const flat = chunksAt(...Array.from({ length: 2_000 }, (_, index) => ({ page: index + 1 })));
  const pages = outlineOf(flat, 500);
  assert.ok(estimateTokens(JSON.stringify(pages)) <= 500 && pages.length > 20);
  assert.ok((pages.at(-1)?.chunk_index ?? 0) > 1_800);
});
