import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineReader } from './line-reader.ts';

function read(bytesMax: number, chunks: (string | Buffer)[]): string[] {
  const seen: string[] = [];
  const reader = createLineReader(bytesMax, {
    line: (bytes) => seen.push(bytes.toString()),
    tooLong: () => seen.push('<too long>'),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return seen;
}

test('lines arrive whole however the bytes are split, even the last one without a newline', () => {
  const bytes = Buffer.from('één\n二\nlast');
  assert.deepEqual(read(100, [bytes]), ['één', '二', 'last']);
  assert.deepEqual(
    read(
      100,
      [...bytes].map((byte) => Buffer.from([byte])),
    ),
    ['één', '二', 'last'],
  );
});

test('reports an overlong line once, skips it and reads the next', () => {
  assert.deepEqual(read(5, ['1234', '5678', '9\nok\n']), ['<too long>', 'ok']);
});
