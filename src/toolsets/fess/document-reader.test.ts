import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textHash } from '../../base/text-hash.ts';
import { createCursorSigner } from '../../tools/signed-cursor.ts';
import { type Chunk, chunkAt } from './document-reader.ts';

const cursors = createCursorSigner('doc me');
const content = (text: string) => ({ text, hash: textHash(text), source: 'index' as const, isTruncated: false });

function readAll(text: string, chunkBytesMax: number): Chunk[] {
  const chunks: Chunk[] = [];
  let cursor: string | undefined;
  do {
    const chunk = chunkAt(content(text), { chunkBytesMax, cursors, cursor });
    chunks.push(chunk);
    cursor = chunk.nextCursor;
  } while (cursor !== undefined);
  return chunks;
}

test('chunks are in order, respect the limit, split no character and cover the text (000 §8.4)', () => {
  const text = 'aé世🎉'.repeat(50);
  for (const chunkBytesMax of [4, 5, 7, 10, 64, 499, 500, 501]) {
    const chunks = readAll(text, chunkBytesMax);
    assert.equal(chunks.map((chunk) => chunk.text).join(''), text);
    let offset = 0;
    for (const [index, chunk] of chunks.entries()) {
      const bytes = Buffer.byteLength(chunk.text);
      assert.ok(bytes > 0 && bytes <= chunkBytesMax);
      assert.ok(chunk.text.isWellFormed() && !chunk.text.includes('\ufffd'));
      assert.equal(chunk.offset, offset);
      offset += bytes;
      assert.equal(chunk.isLast, index === chunks.length - 1);
      assert.equal(chunk.isLast, chunk.nextCursor === undefined);
      assert.equal(chunk.hash, textHash(text));
      assert.equal(chunk.totalBytes, Buffer.byteLength(text));
    }
  }
});

test('a short or empty text is one chunk', () => {
  assert.deepEqual(readAll('abc', 4).length, 1);
  const [only] = readAll('', 4);
  assert.deepEqual([only?.text, only?.isLast, only?.totalBytes], ['', true, 0]);
});

test('rejects cursors of a changed text, and those of another document or caller (contract §4)', () => {
  const { nextCursor: cursor } = chunkAt(content('abcdefgh'), { chunkBytesMax: 4, cursors, cursor: undefined });
  const read = (text: string, owner: string) =>
    chunkAt(content(text), { chunkBytesMax: 4, cursors: createCursorSigner(`doc ${owner}`), cursor });
  assert.equal(read('abcdefgh', 'me').text, 'efgh');
  assert.throws(() => read('abcdefgX', 'me'), { code: 'content_changed' });
  assert.throws(() => read('abcdefgh', 'you'), { code: 'invalid_cursor' });
});
