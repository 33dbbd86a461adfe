import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useSigningKey } from '../base/signing-key.ts';
import { createCursorSigner } from './signed-cursor.ts';

test('T113: accepts a cursor as issued, and no altered one', () => {
  const signer = createCursorSigner('notes');
  const cursor = signer.issue(1200, ['a-1', 'b']);
  assert.deepEqual(signer.read(cursor), { at: 1200, marks: ['a-1', 'b'] });
  for (let index = 0; index < cursor.length; index += 1) {
    for (const other of ['0', 'A', '-', '_', '=', '']) {
      const changed = cursor.slice(0, index) + other + cursor.slice(index + 1);
      if (changed !== cursor) assert.throws(() => signer.read(changed), { code: 'invalid_cursor' });
    }
  }
});

test('T113: rejects a cursor of another list or key', () => {
  const cursor = createCursorSigner('notes').issue(20);
  assert.equal(createCursorSigner('notes').read(cursor).at, 20);
  assert.throws(() => createCursorSigner('context').read(cursor), { code: 'invalid_cursor' });
  useSigningKey(randomBytes(32));
  assert.throws(() => createCursorSigner('notes').read(cursor), { code: 'invalid_cursor' });
});
