import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncate } from './entry-shapes.ts';

test('upstreams 1.8: does not change a text that fits', () => {
  assert.deepEqual(truncate('x'.repeat(300), 300), { text: 'x'.repeat(300), truncated: false });
  assert.deepEqual(truncate('😀'.repeat(300), 300), { text: '😀'.repeat(300), truncated: false });
});

test('upstreams 1.8: truncates at the last space in the final 30 %, else at the limit', () => {
  assert.deepEqual(truncate(`${'a'.repeat(80)} ${'b'.repeat(80)}`, 100), {
    text: `${'a'.repeat(80)}...`,
    truncated: true,
  });
  assert.deepEqual(truncate(`${'a'.repeat(60)} ${'b'.repeat(80)}`, 100).text.length, 103);
  assert.deepEqual(truncate('😀'.repeat(301), 300), { text: `${'😀'.repeat(300)}...`, truncated: true });
});
