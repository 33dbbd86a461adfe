import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrameReader, encodeFrame, type Frame } from './frames.ts';

test('reads frames however their bytes are split', () => {
  const sent = [
    encodeFrame(1, 0, 'first'),
    encodeFrame(18, 4_000_000_000, 'ü\n'),
    encodeFrame(5),
    encodeFrame(3, 2, 'x'.repeat(5000)),
  ];
  const all = Buffer.concat(sent);
  for (const size of [1, 2, 7, 9, 10, 4096, all.length]) {
    const got: Frame[] = [];
    const read = createFrameReader(
      () => 5000,
      (frame) => got.push(frame),
    );
    for (let start = 0; start < all.length; start += size) read(all.subarray(start, start + size));
    assert.deepEqual(
      got.map(({ kind, line, bytes }) => [kind, line, bytes.toString()]),
      [
        [1, 0, 'first'],
        [18, 4_000_000_000, 'ü\n'],
        [5, 0, ''],
        [3, 2, 'x'.repeat(5000)],
      ],
    );
  }
});

test('rejects an overlong frame by its header', () => {
  const read = createFrameReader(
    () => 10,
    () => assert.fail('the frame was read'),
  );
  assert.throws(() => read(encodeFrame(3, 1, 'x'.repeat(11)).subarray(0, 9)), RangeError);
});
