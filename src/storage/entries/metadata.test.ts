import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metadata } from './entry.ts';
import { mergePatch } from './metadata.ts';

/** RFC 7396, appendix A, where target and patch are objects, as metadata always is. */
const cases: [target: Metadata, patch: Metadata, result: Metadata][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test('002 metadata_patch: the cases of RFC 7396', () => {
  for (const [target, patch, result] of cases)
    assert.deepEqual(mergePatch(target, patch), result, JSON.stringify(patch));
});

test('treats __proto__ as an ordinary key', () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
  assert.equal(JSON.stringify(merged), '{"__proto__":{"polluted":true}}');
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});
