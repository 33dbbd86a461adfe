import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useSigningKey } from '../../base/signing-key.ts';
import { createCursorSeal } from './cursor-seal.ts';

test('a cursor opens only as issued, in its context, with the signing key', () => {
  const seal = createCursorSeal();
  const cursor = seal.close(['content', 'doc', 'me'], [42, 'hash']);
  assert.deepEqual(seal.open(['content', 'doc', 'me'], cursor), [42, 'hash']);
  for (const bound of [
    ['content', 'doc', 'you'],
    ['content', 'other', 'me'],
    ['list', 'doc', 'me'],
    ['content', 'docme'],
  ]) {
    assert.equal(seal.open(bound, cursor), undefined, bound.join());
  }
  for (let index = 0; index < cursor.length; index += 1) {
    const other = cursor[index] === 'A' ? 'B' : 'A';
    const tampered = `${cursor.slice(0, index)}${other}${cursor.slice(index + 1)}`;
    assert.equal(seal.open(['content', 'doc', 'me'], tampered), undefined, tampered);
  }
  for (const text of ['', '~', 'x', `${cursor}x`, cursor.slice(1)]) {
    assert.equal(seal.open(['content', 'doc', 'me'], text), undefined);
  }
  useSigningKey(randomBytes(32));
  assert.equal(seal.open(['content', 'doc', 'me'], cursor), undefined);
});
