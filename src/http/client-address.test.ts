import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress } from './client-address.ts';

test('T132: all spellings of an address are one client', () => {
  const same = [
    ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:0db8:0001:0002::1'],
    ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.0.0.2'],
  ];
  for (const spellings of same) assert.equal(new Set(spellings.map(clientAddress)).size, 1, spellings.join(' '));
});

test('T132: different clients are different addresses', () => {
  const different = ['203.0.113.9', '203.0.113.10', '2001:db8:1:2::1', '2001:db8:1:3::1', '127.0.0.1', ''];
  assert.equal(new Set(different.map(clientAddress)).size, different.length);
});
