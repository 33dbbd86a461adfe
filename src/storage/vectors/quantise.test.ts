import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantise } from './quantise.ts';

test('rounds components to 127ths of the largest', () => {
  const vector = Float32Array.from({ length: 1000 }, (_, at) => Math.sin(at * at) * (at === 3 ? -2 : 1));
  const { codes, scale } = quantise(vector);
  const largest = Math.max(...vector.map(Math.abs));
  assert.equal(scale, largest / 127);
  assert.deepEqual(
    codes,
    Int8Array.from(vector, (component) => Math.round((component * 127) / largest)),
  );
  assert.ok(codes.includes(-127) && !codes.includes(-128));
});

test('returns zeros for a zero vector or invalid numbers', () => {
  for (const odd of [0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const { codes, scale } = quantise(Float32Array.of(odd, 0, odd === 0 ? 0 : 1));
    assert.deepEqual([[...codes], scale], [[0, 0, 0], 0]);
  }
});
